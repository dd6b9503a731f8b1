/* State files of calibration: gen/partial.c; names of files: gen/calib_data.c;
 * gen/pool.c. */
#include "cmocka_all.h"

#include "calibrate.h"
#include "lower.h"
#include "pool.h"

#include "qrt_f32.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD 24u

static struct qc qc;

static int set_up(void **state)
{
    (void)state;
    memset(&qc, 0, sizeof(qc));
    qc_diag_init(&qc);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    qc_free_all(&qc);
    return 0;
}

/* What is wrong with a file of these bytes; null: nothing. */
static const char *fault(const char *bytes, size_t size)
{
    struct qc_file *file = qc_load_text(&qc, "f", bytes, size);

    if (qc_parse_partial(&qc, file))
        return NULL;
    assert_non_null(file->diags);
    return file->diags->text;
}

/* ---- an example ---- */

static struct qc_str a_state(void)
{
    static const float x[] = {0.0f, 0.5f, 1.5f, -0.25f, 3.0f};
    size_t size = qrt_ifmr_f32_state_size(61), len;
    struct qc_search s = {0};
    float ratios[61];
    void *state = qc_calib_state(&qc, size);
    uint8_t *out;

    s.act_bits = 8;
    s.asymmetric = 1;
    s.range_start = 0.7;
    s.range_end = 1.3;
    s.step = 0.01;
    s.max_percentile = s.min_percentile = 0.999999;
    assert_int_equal(qc_calib_start(&s, false, ratios, state, size), QRT_OK);
    assert_int_equal(qrt_ifmr_f32_add(state, x, 5, NULL), QRT_OK);
    qrt_ifmr_f32_save(state, NULL, 0, &len);
    out = qc_alloc(&qc, len);
    qrt_ifmr_f32_save(state, out, len, &len);
    return (struct qc_str){(const char *)out, len};
}

static struct qc_calib *example(void)
{
    static uint32_t scale_w[] = {0x3F800000, 0x3A83126F};
    static const char *const names[] = {"conv1", "a/b", "\xE5\xB1\x82"};
    struct qc_calib *c = qc_alloc(&qc, sizeof(*c));
    size_t i;

    c->qc = &qc;
    c->config = (struct qc_origin){qc_str("quant.cfg"), 0x01234567};
    c->model = (struct qc_origin){qc_str("model.onnx"), 0x89ABCDEF};
    c->batch_num = 7;
    c->round = 1;
    c->count = 3;
    c->layers = qc_alloc(&qc, 3 * sizeof(*c->layers));
    for (i = 0; i < 3; i++) {
        struct qc_calib_layer *l = &c->layers[i];
        struct qc_search *s = &l->search;

        s->name = qc_str(names[i]);
        s->algo = i == 1 ? QC_ULQ : QC_IFMR;
        s->act_bits = 8;
        s->wts_bits = i ? 8 : 4;
        s->asymmetric = 1;
        s->range_start = 0.7;
        s->range_end = 1.3;
        s->step = 0.01;
        s->max_percentile = s->min_percentile = 0.999999;
        s->weights = 1;
        s->settings = 0xFEDCBA98;
        s->count_w = i ? 1 : 2;
        s->scale_w = scale_w;
        l->batches = 3 * i;
    }
    c->layers[1].stage = QC_FOUND;
    c->layers[1].found.samples = 12345678901u;
    c->layers[1].found.scale_bits = 0x3C000000;
    c->layers[1].found.offset = -128;
    c->layers[1].found.loss = 1e-5;
    c->layers[1].found.candidates = 61;
    c->layers[2].stage = QC_WAITING;
    c->layers[2].state = a_state();
    return c;
}

static struct qc_out *bytes_of(const struct qc_calib *c)
{
    struct qc_out *o = qc_out_new(&qc, NULL);

    qc_put_partial(o, c);
    return o;
}

static void fit_checksum(char *bytes, size_t size)
{
    uint32_t crc = qc_crc32((struct qc_str){bytes + HEAD, size - HEAD});
    unsigned i;

    for (i = 0; i < 4; i++)
        bytes[12 + i] = (char)(crc >> 8 * i & 0xFF);
}

/* ---- properties ---- */

static void a_state_file_reads_back(void **state)
{
    struct qc_calib *c = example(), *d;
    struct qc_out *o = bytes_of(c), *again;
    struct qc_file *file = qc_load_text(&qc, "f", o->text, o->size);

    (void)state;
    d = qc_parse_partial(&qc, file);
    assert_non_null(d);
    assert_int_equal(d->batch_num, 7);
    assert_int_equal(d->round, 1);
    assert_true(
        qc_same_calibration(c, "a", d, "b", (struct qc_loc){file, 0, 0}));
    assert_true(qc_same_found(&c->layers[1].found, &d->layers[1].found));
    assert_int_equal(d->layers[1].found.offset, -128);
    assert_int_equal(d->layers[2].batches, 6);
    assert_true(qc_equal(c->layers[2].state, d->layers[2].state));
    again = bytes_of(d);
    assert_int_equal(again->size, o->size);
    assert_memory_equal(again->text, o->text, o->size);
}

static void bytes_are_the_same_on_every_host(void **state)
{
    struct qc_out *o = bytes_of(example());

    (void)state;
    assert_memory_equal(o->text, "QOBS\r\n\x1a\n\2\0\0\0", 12);
    assert_int_equal(qc_crc32((struct qc_str){o->text, o->size}), 0x18b38128);
}

static void every_changed_byte_is_noticed(void **state)
{
    struct qc_out *o = bytes_of(example());
    size_t i;

    (void)state;
    for (i = 0; i < o->size; i++) {
        o->text[i] = (char)(o->text[i] ^ 1 << i % 8);
        assert_non_null(fault(o->text, o->size));
        o->text[i] = (char)(o->text[i] ^ 1 << i % 8);
    }
    assert_null(fault(o->text, o->size));
}

static void every_length_but_one_is_refused(void **state)
{
    struct qc_out *o = bytes_of(example());
    size_t n;

    (void)state;
    for (n = 0; n < o->size; n++)
        assert_non_null(fault(o->text, n));
    qc_put(o, "", 1);
    assert_non_null(fault(o->text, o->size));
}

/* A file that somebody made on purpose: refused or read, nothing else. */
static void content_is_checked_behind_a_right_checksum(void **state)
{
    static const unsigned char values[] = {0, 1, 0x7F, 0x80, 0xFF};
    struct qc_out *o = bytes_of(example());
    size_t i, k, refused = 0;

    (void)state;
    for (i = HEAD; i < o->size; i++) {
        char was = o->text[i];

        for (k = 0; k < sizeof(values); k++) {
            o->text[i] = (char)values[k];
            fit_checksum(o->text, o->size);
            refused += fault(o->text, o->size) != NULL;
        }
        o->text[i] = was;
    }
    assert_true(refused > 100);
    fit_checksum(o->text, o->size);
    assert_null(fault(o->text, o->size));
}

static void versions_are_told(void **state)
{
    struct qc_out *o = bytes_of(example());

    (void)state;
    o->text[8] = 9;
    assert_non_null(strstr(fault(o->text, o->size), "version 9"));
}

/* Which message a change of the example makes. */
#define DIFFERS(want, change)                                                  \
    do {                                                                       \
        struct qc_calib *a = example(), *b = example();                        \
        struct qc_file *f = qc_load_text(&qc, "f", "", 0);                     \
        struct qc_search *s = &b->layers[1].search;                            \
        (void)s;                                                               \
        change;                                                                \
        assert_false(                                                          \
            qc_same_calibration(a, "a", b, "b", (struct qc_loc){f, 0, 0}));    \
        assert_non_null(f->diags);                                             \
        if (!strstr(f->diags->text, want))                                     \
            fail_msg("'%s' lacks '%s'", f->diags->text, want);                 \
    } while (0)

static void the_field_that_differs_is_named(void **state)
{
    static uint32_t other[] = {0x3F800001, 0};

    (void)state;
    DIFFERS("'batch_num' is 7 in a and 8 in b", b->batch_num = 8);
    DIFFERS("--exact-loss", b->exact_loss = 1);
    DIFFERS("'act_algo' of layer 'a/b'", s->algo = QC_IFMR);
    DIFFERS("'dst_type'", s->act_bits = 4);
    DIFFERS("'wts_type'", s->wts_bits = 4);
    DIFFERS("'asymmetric'", s->asymmetric = 0);
    DIFFERS("'channel_wise'", s->channel_wise = 1);
    DIFFERS("'skip_fusion_layers'", s->skip_fusion = 1);
    DIFFERS("'fixed_min'", s->fixed_min = 1);
    DIFFERS("'search_range_start' of layer 'a/b' is 0.7 in a and 0.8 in b",
            s->range_start = 0.8);
    DIFFERS("'search_range_end'", s->range_end = 1.2);
    DIFFERS("'search_step'", s->step = 0.02);
    DIFFERS("'max_percentile'", s->max_percentile = 0.99);
    DIFFERS("'min_percentile'", s->min_percentile = 0.99);
    DIFFERS("'num_of_bins'", s->bins = 1024);
    DIFFERS("'weights'", s->weights = 0);
    DIFFERS("'scale_w'", s->scale_w = other);
    DIFFERS("'scale_w'", s->count_w = 2);
    DIFFERS("layer 2 is 'a/b' in a and 'c' in b", s->name = qc_str("c"));
    DIFFERS("layer 3 is", b->count = 2);
    DIFFERS("the clips or the fusion of layer 'a/b'", s->settings = 0);
}

/* Settings may be the same and the files others: the record could name but
 * one of them. */
static void the_input_that_differs_is_named(void **state)
{
    (void)state;
    DIFFERS("the config is quant.cfg (crc32 01234567) in a and c.cfg (crc32 "
            "00000001) in b",
            b->config = ((struct qc_origin){qc_str("c.cfg"), 1}));
    DIFFERS("the config is quant.cfg (crc32 01234567) in a and not given in b",
            b->config = ((struct qc_origin){qc_str(""), 0}));
    DIFFERS("the model is model.onnx (crc32 89abcdef) in a and model.onnx "
            "(crc32 00000000) in b",
            b->model.crc = 0);
}

static void the_input_is_named_beside_the_field(void **state)
{
    struct qc_calib *a = example(), *b = example();
    struct qc_file *f = qc_load_text(&qc, "f", "", 0);

    (void)state;
    b->config.crc = 1;
    b->layers[0].search.step = 0.02;
    assert_false(qc_same_calibration(a, "a", b, "b", (struct qc_loc){f, 0, 0}));
    assert_non_null(strstr(f->diags->text, "'search_step'"));
    assert_non_null(strstr(f->diags->helps->text, "the config is quant.cfg"));
    assert_null(f->diags->helps->next);
}

/* Only bytes count, as machines may have their files under other names. */
static void names_of_inputs_may_differ(void **state)
{
    struct qc_calib *a = example(), *b = example();

    (void)state;
    b->config.name = qc_str("quant(1).cfg");
    b->model.name = qc_str("m.onnx");
    assert_true(
        qc_same_calibration(a, "a", b, "b", (struct qc_loc){NULL, 0, 0}));
}

static void names_of_layers_become_names_of_files(void **state)
{
    static const char *const cases[][2] = {
        {"conv1",           "conv1"          },
        {"layer1.0.conv-1", "layer1.0.conv-1"},
        {"a/b:0",           "a%2Fb%3A0"      },
        {"50% ~_",          "50%25%20~_"     },
        {"\xE5\xB1\x82",    "%E5%B1%82"      },
        {"..",              ".."             },
        {"",                ""               }
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct qc_str s = qc_calib_file_name(&qc, qc_str(cases[i][0]));

        if (!qc_equalz(s, cases[i][1]))
            fail_msg("%s: %.*s", cases[i][0], QC_ARG(s));
    }
}

/* ---- the pool ---- */

struct board {
    pthread_mutex_t lock;
    unsigned char seen[100], busy[256];
    size_t ticks, last;
    bool fault;
};

static void work(void *context, unsigned worker, size_t item)
{
    struct board *b = context;

    pthread_mutex_lock(&b->lock);
    b->fault |= worker >= 256 || b->busy[worker]++ || b->seen[item]++;
    pthread_mutex_unlock(&b->lock);
    usleep(100);
    pthread_mutex_lock(&b->lock);
    b->busy[worker]--;
    pthread_mutex_unlock(&b->lock);
}

static void tick(void *context, size_t done)
{
    struct board *b = context;

    b->ticks++;
    b->fault |= done < b->last;
    b->last = done;
}

static void every_item_is_done_once(void **state)
{
    static const unsigned threads[] = {1, 2, 7, 100, 1000};
    size_t t, i;

    (void)state;
    for (t = 0; t < 2 * sizeof(threads) / sizeof(*threads); t++) {
        struct board b;

        memset(&b, 0, sizeof(b));
        pthread_mutex_init(&b.lock, NULL);
        qc_pool(threads[t / 2], 100, work, t % 2 ? tick : NULL, &b);
        for (i = 0; i < 100; i++)
            assert_int_equal(b.seen[i], 1);
        assert_false(b.fault);
        assert_true(t % 2 ? b.ticks > 0 && b.last == 100 : b.ticks == 0);
    }
    qc_pool(3, 0, work, NULL, NULL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_state_file_reads_back),
        TEST(bytes_are_the_same_on_every_host),
        TEST(every_changed_byte_is_noticed),
        TEST(every_length_but_one_is_refused),
        TEST(content_is_checked_behind_a_right_checksum),
        TEST(versions_are_told),
        TEST(the_field_that_differs_is_named),
        TEST(the_input_that_differs_is_named),
        TEST(the_input_is_named_beside_the_field),
        TEST(names_of_inputs_may_differ),
        TEST(names_of_layers_become_names_of_files),
        TEST(every_item_is_done_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
