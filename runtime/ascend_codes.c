/* What the library's codes mean for us. The thousands tell its layer; a code
 * that stands in no list has failed a job once, and is a loss when it comes
 * twice in a row. */
#include "ascend.h"

#include <string.h>

/* Ranges of codes, ascending. LOST is what no job survives. */
static const struct range {
    int32_t first, last;
    int32_t status;
} ranges[] = {
    {100001, 100001, QRT_OFF_LOST    }, /* somebody shut the library down  */
    {100020, 100027, QRT_OFF_DECLINED},
    {100029, 100029, QRT_OFF_DECLINED},
    {107019, 107020, QRT_OFF_TIMEOUT },
    {107022, 107022, QRT_OFF_LOST    },
    {161001, 161002, QRT_OFF_DECLINED},
    {200000, 200000, QRT_OFF_ENOMEM  },
    {200001, 200001, QRT_OFF_DECLINED},
    {207000, 207000, QRT_OFF_DECLINED},
    {207001, 207001, QRT_OFF_ENOMEM  },
    {207003, 207003, QRT_OFF_EXEC    },
    {207005, 207005, QRT_OFF_BUSY    },
    {207008, 207008, QRT_OFF_BUSY    },
    {207018, 207018, QRT_OFF_ENOMEM  },
    {300000, 300000, QRT_OFF_ENOMEM  },
    {361001, 361001, QRT_OFF_EXEC    },
    {500001, 500003, QRT_OFF_EXEC    },
    {507002, 507002, QRT_OFF_BUSY    },
    {507009, 507009, QRT_OFF_EXEC    },
    {507010, 507010, QRT_OFF_LOST    },
    {507011, 507011, QRT_OFF_EXEC    },
    {507012, 507012, QRT_OFF_TIMEOUT },
    {507014, 507015, QRT_OFF_EXEC    },
    {507017, 507018, QRT_OFF_EXEC    },
    {507034, 507036, QRT_OFF_EXEC    },
    {507042, 507045, QRT_OFF_EXEC    },
    {507046, 507046, QRT_OFF_TIMEOUT },
    {507048, 507050, QRT_OFF_EXEC    },
    {507053, 507054, QRT_OFF_LOST    },
    {507056, 507056, QRT_OFF_LOST    },
    {507899, 507901, QRT_OFF_LOST    },
    {561001, 561003, QRT_OFF_DECLINED},
    {561103, 561103, QRT_OFF_DECLINED},
    {561107, 561119, QRT_OFF_DECLINED}
};

/* Codes after which a stream cannot be trusted: timeouts of kernels, and a
 * model that was stopped. */
static bool ends_stream(int32_t code)
{
    return code == 507011 || code == 507014 || code == 507034 ||
           code == 507048 || code == 507017 || code == 107020;
}

static int32_t lookup(int32_t code)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return ranges[i].status;
        }
    }
    return QRT_OFF_PENDING; /* not known */
}

static void lose(struct ascend *a)
{
    if (!a->lost) {
        a->lost = true;
        qrt_ascend_note(a, QRT_OFF_LOST, "ascend: device lost");
    }
}

int32_t qrt_ascend_status(struct ascend *a, int32_t code)
{
    int32_t status = lookup(code);
    bool again = a->unknown;

    if (code == ACL_OK) {
        return QRT_OFF_OK;
    }
    a->native = code;
    if (status != QRT_OFF_DECLINED && status != QRT_OFF_BUSY) {
        a->faults++;
    }
    a->unknown = status == QRT_OFF_PENDING;
    a->rebuild = a->rebuild || ends_stream(code);
    if (a->unknown) {
        status = again ? QRT_OFF_LOST : QRT_OFF_EXEC;
    }
    if (status == QRT_OFF_LOST) {
        lose(a);
    }
    return status;
}

int32_t qrt_ascend_wait_status(struct ascend *a, int32_t code)
{
    int32_t status = qrt_ascend_status(a, code);

    if (code == ACL_NO_CONTEXT || code == ACL_WRONG_CONTEXT) {
        lose(a); /* our own context has vanished */
    }
    if (a->lost) {
        return QRT_OFF_LOST;
    }
    return status == QRT_OFF_OK || status == QRT_OFF_TIMEOUT ? status
                                                             : QRT_OFF_EXEC;
}

bool qrt_ascend_is_loss(int32_t code)
{
    return code != ACL_OK && lookup(code) == QRT_OFF_LOST;
}

int32_t qrt_ascend_open_status(struct ascend *a, int32_t code)
{
    int32_t status = lookup(code);

    if (code == ACL_OK) {
        return QRT_OFF_OK;
    }
    a->native = code;
    return status == QRT_OFF_ENOMEM ? QRT_OFF_ENOMEM : QRT_OFF_ENODEV;
}

/* Foreign text: printable, and of a bounded length. */
static void copy_text(char *to, size_t size, const char *from)
{
    size_t i;

    for (i = 0; i + 1 < size && from[i] != '\0'; i++) {
        to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : ' ';
    }
    to[i] = '\0';
}

void qrt_ascend_note(struct ascend *a, int32_t status, const char *what)
{
    char text[160];
    const char *theirs = NULL;
    size_t n;

    if (a->host == NULL || a->host->note == NULL) {
        return;
    }
    copy_text(text, sizeof text, what);
    n = strlen(text);
    if (a->native != ACL_OK && !a->lost && a->call.aclGetRecentErrMsg != NULL) {
        theirs = a->call.aclGetRecentErrMsg();
    }
    if (theirs != NULL && theirs[0] != '\0' && n + 3 < sizeof text) {
        text[n] = ':';
        text[n + 1] = ' ';
        copy_text(text + n + 2, sizeof text - n - 2, theirs);
    }
    a->host->note(a->host->u, status, a->native, text);
}
