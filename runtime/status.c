/* Names of the status codes. */
#include "qrt.h"

const char *qrt_status_name(enum qrt_status status)
{
    switch (status) {
    case QRT_OK:
        return "QRT_OK";
    case QRT_ERR_NULL:
        return "QRT_ERR_NULL";
    case QRT_ERR_RANGE:
        return "QRT_ERR_RANGE";
    case QRT_ERR_SIZE:
        return "QRT_ERR_SIZE";
    case QRT_ERR_NOT_FINITE:
        return "QRT_ERR_NOT_FINITE";
    case QRT_ERR_OVERFLOW:
        return "QRT_ERR_OVERFLOW";
    case QRT_ERR_SCRATCH:
        return "QRT_ERR_SCRATCH";
    case QRT_ERR_VERSION:
        return "QRT_ERR_VERSION";
    case QRT_ERR_HASH:
        return "QRT_ERR_HASH";
    case QRT_ERR_NOT_FOUND:
        return "QRT_ERR_NOT_FOUND";
    case QRT_ERR_STATE:
        return "QRT_ERR_STATE";
    case QRT_ERR_EMPTY:
        return "QRT_ERR_EMPTY";
    case QRT_ERR_FULL:
        return "QRT_ERR_FULL";
    case QRT_ERR_MISMATCH:
        return "QRT_ERR_MISMATCH";
    case QRT_ERR_UNSUPPORTED:
        return "QRT_ERR_UNSUPPORTED";
    }
    return "?";
}
