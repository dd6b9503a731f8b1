/* The IFMR observer: state and result are functions of the multiset of the
 * samples, whatever the order, the split, the type and the order of merging. */
#include "ifmr_help.h"

#define PARTS_MAX 9
#define CELLS_MAX (QRT_IFMR_BYTES_MAX / 8)

static uint64_t storage[PARTS_MAX + 1][CELLS_MAX];

static void assert_same(const struct qrt_ifmr_observer *a,
                        const struct qrt_ifmr_observer *b, const char *what)
{
    const size_t from = offsetof(struct qrt_ifmr_observer, cell_count);
    const size_t to = offsetof(struct qrt_ifmr_observer, extreme_count) +
                      sizeof a->extreme_count;
    struct qrt_ifmr search = help_search();

    if (memcmp(a->cells, b->cells, a->cell_count * sizeof *a->cells) != 0) {
        fail_msg("%s: cells differ", what);
    }
    assert_memory_equal((const char *)a + from, (const char *)b + from,
                        to - from);
    for (int i = 0; i < 4 && a->samples != 0; i++) {
        struct qrt_ifmr_result r, s;

        memset(&r, 0, sizeof r);
        memset(&s, 0, sizeof s);
        search.max_percentile = i < 2 ? P_DEFAULT : 0x3feff7ced916872bU;
        search.min_percentile = search.max_percentile;
        assert_int_equal(qrt_ifmr_finish(a, &search, 8, i % 2, &r),
                         qrt_ifmr_finish(b, &search, 8, i % 2, &s));
        assert_memory_equal(&r, &s, sizeof r);
    }
}

static void observe(struct qrt_ifmr_observer *o, uint64_t *cells,
                    uint32_t bytes, const uint32_t *x, size_t n)
{
    memset(cells, 0xa5, bytes);
    assert_int_equal(qrt_ifmr_init(o, cells, bytes), QRT_OK);
    for (size_t i = 0; i < n;) {
        uint32_t some = 1 + help_below(help_below(4) == 0 ? 3 : 5000);

        some = some < n - i ? some : (uint32_t)(n - i);
        assert_int_equal(qrt_ifmr_add_f32(o, x + i, some), QRT_OK);
        i += some;
    }
}

/* Shuffles x, splits it, observes the parts and merges them in random order;
 * the result must be what `whole` is. */
static void split_and_merge(const struct qrt_ifmr_observer *whole, uint32_t *x,
                            size_t n, const char *what)
{
    struct qrt_ifmr_observer part[PARTS_MAX];
    uint32_t bytes = whole->cell_count * 8;
    uint32_t parts = 1 + help_below(PARTS_MAX);
    size_t from = 0;

    help_shuffle(x, n);
    for (uint32_t p = 0; p < parts; p++) {
        size_t to =
            p + 1 == parts ? n : from + help_below((uint32_t)(n - from) + 1);

        observe(&part[p], storage[p], bytes, x + from, to - from);
        from = to;
    }
    while (parts > 1) {
        uint32_t a = help_below(parts), b = help_below(parts - 1);
        struct qrt_ifmr_observer t;

        b += b >= a;
        assert_int_equal(qrt_ifmr_merge(&part[a], &part[b]), QRT_OK);
        t = part[a];
        part[a] = part[0];
        part[0] = t; /* the result may be any of them */
        b = b == 0 ? a : b;
        part[b] = part[--parts];
    }
    assert_same(whole, &part[0], what);
}

static void run(const char *name, const float *values, size_t n, uint32_t bytes,
                int rounds)
{
    struct qrt_ifmr_observer whole;
    uint32_t *x = malloc(n * sizeof *x + 4);
    char what[300];

    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        x[i] = help_bits(values[i]);
    }
    observe(&whole, storage[PARTS_MAX], bytes, x, n);
    snprintf(what, sizeof what, "%s, %u bytes", name, (unsigned)bytes);
    for (int i = 0; i < rounds; i++) {
        split_and_merge(&whole, x, n, what);
    }
    free(x);
}

static float sample(int kind)
{
    double g = help_gauss();

    switch (kind) {
    case 0:
        return (float)g;
    case 1: /* ReLU */
        return g > 0 ? (float)g : 0;
    case 2: /* a lattice with few values */
        return (float)rint(g * 8) * 0.125f;
    case 3: /* many octaves */
        return (float)(g * exp2((int)help_below(60) - 30));
    case 4: /* below what a bin and the observer distinguish */
        return (float)(g * exp2((int)help_below(100) - 110));
    case 5: /* all negative, with a heavy value */
        return help_below(3) == 0 ? -3.25f : (float)-fabs(g);
    case 6: /* rounds up to the next power of two */
        return help_below(2) == 0 ? 1.99999988f : (float)(g * 0.1);
    case 7: /* the ends of the range */
        return help_below(2) == 0 ? -3.40282347e38f
                                  : (float)(fmax(-3, fmin(3, g)) * 1e38);
    default: /* few distinct values, on both sides of any table's size */
        return (float)((int)help_below(900) - 300);
    }
}

static void random_data_in_any_split_give_the_same_bytes(void **state)
{
    static const uint32_t bytes[] = {512, 1000, 4096, 8192, 32768};
    static float x[12000];

    (void)state;
    for (int round = 0; round < 90; round++) {
        size_t n = 1 + help_below(round % 3 == 0 ? 50 : 12000);
        uint32_t size = bytes[help_below(5)];
        char name[30];

        for (size_t i = 0; i < n; i++) {
            x[i] = sample(round % 9);
        }
        snprintf(name, sizeof name, "kind %d, n %u", round % 9, (unsigned)n);
        run(name, x, n, size, size > 8192 ? 2 : 6);
    }
}

static void real_activations_in_any_split_give_the_same_bytes(void **state)
{
    static const uint32_t bytes[] = {4096,  8192, 4096, 8192,
                                     16384, 8192, 32768};
    struct help_tensor *t;
    size_t count = help_activations(1, &t);
    int splits = 0;

    (void)state;
    if (count == 0) {
        print_message("SKIPPED: no activations in %s/models\n", help_shared());
        skip();
    }
    for (size_t i = 0; splits < 1000; i++) {
        const struct help_tensor *a = &t[i % count];
        int rounds = 1 + (int)(60000 / (a->n + 1));

        rounds = rounds > 20 ? 20 : rounds;
        rounds = rounds > 1000 - splits ? 1000 - splits : rounds;
        run(a->name, a->x, a->n, bytes[i % 7], rounds);
        splits += rounds;
    }
    for (size_t i = 0; i < count; i++) {
        free(t[i].x);
    }
    free(t);
}

static void order_inside_a_part_does_not_matter(void **state)
{
    static float x[6000];

    (void)state;
    for (int i = 0; i < 6000; i++) { /* every sample a new extreme */
        x[i] = (float)(i + 1) * (i % 3 == 0 ? -0.5f : 1.0f);
    }
    run("ramp", x, 6000, 8192, 10);
}

static void integers_give_the_bytes_of_the_same_floats(void **state)
{
    static int16_t narrow[3000];
    static int32_t wide[3000];
    static uint32_t bits[3000];
    struct qrt_ifmr_observer a, b;

    (void)state;
    for (int frac = -90; frac <= 90; frac += 15) {
        for (int i = 0; i < 3000; i++) {
            narrow[i] = (int16_t)help_random();
            bits[i] = help_bits(ldexpf(narrow[i], -frac));
        }
        qrt_ifmr_init(&a, storage[0], 4096);
        qrt_ifmr_init(&b, storage[1], 4096);
        assert_int_equal(qrt_ifmr_add_s16(&a, narrow, 3000, frac), QRT_OK);
        assert_int_equal(qrt_ifmr_add_f32(&b, bits, 3000), QRT_OK);
        assert_same(&a, &b, "int16");

        for (int i = 0; i < 3000; i++) {
            wide[i] = (int32_t)(help_random() >> help_below(31)) *
                      (help_below(2) == 0 ? 1 : -1);
            wide[i] = i == 0 ? INT32_MIN : i == 1 ? 0x1000001 : wide[i];
            bits[i] = help_bits(ldexpf((float)wide[i], -frac));
        }
        qrt_ifmr_init(&a, storage[0], 8192);
        qrt_ifmr_init(&b, storage[1], 8192);
        assert_int_equal(qrt_ifmr_add_s32(&a, wide, 3000, frac), QRT_OK);
        assert_int_equal(qrt_ifmr_add_f32(&b, bits, 3000), QRT_OK);
        assert_same(&a, &b, "int32");
    }
}

/* An integer of at most `bits` bits and a sign: round numbers, their neighbours
 * and what lies half way between two of 14 or 24 bits, too. */
static int32_t integer(uint32_t bits, int kind)
{
    const int64_t most = ((int64_t)1 << bits) - 1;
    double g = help_gauss() * (double)most / 3;
    int64_t v = (int64_t)fmax(-1e10, fmin(1e10, g));
    uint32_t k;

    switch (kind) {
    case 0:
        break;
    case 1: /* ReLU, cut off: the extreme is frequent */
        v = v < 0 ? 0 : v > most / 2 ? most / 2 : v;
        break;
    case 2: /* even */
        v = (int64_t)(help_uniform() * 2 * (double)most) - most;
        break;
    default: /* few bits, or few and one */
        k = help_below(bits + 1);
        v = (most >> k) - (int64_t)help_below(3) + 1;
        v = help_below(3) == 0 ? v - (v >> help_below(26)) : v;
        v = help_below(2) == 0 ? -v : v;
        break;
    }
    v = v > most ? most : v;
    return (int32_t)(v < -most - 1 ? -most - 1 : v);
}

/* The same numbers, observed as what fits them. */
static void add_as(struct qrt_ifmr_observer *o, enum qrt_type type,
                   const int32_t *v, uint32_t n, int32_t frac)
{
    static int16_t narrow[1000];
    static uint32_t bits[1000];

    for (uint32_t i = 0; i < n; i++) {
        narrow[i] = (int16_t)v[i];
        bits[i] = help_bits(ldexpf((float)v[i], -frac));
        if (type == QRT_S16 && narrow[i] != v[i]) {
            type = QRT_S32;
        }
    }
    assert_int_equal(qrt_ifmr_add_any(o, type,
                                      type == QRT_S16   ? (const void *)narrow
                                      : type == QRT_S32 ? (const void *)v
                                                        : (const void *)bits,
                                      n, frac),
                     QRT_OK);
}

static void a_number_has_one_bin_whatever_its_type(void **state)
{
    static const enum qrt_type types[] = {QRT_S16, QRT_S32, QRT_BITS};
    static int32_t v[1000];
    struct qrt_ifmr_observer o[4];

    (void)state;
    for (int round = 0; round < 100; round++) {
        const uint32_t bits = 10 + help_below(22);
        const uint32_t bytes = 512u << help_below(6);
        const int32_t frac = (int32_t)help_below(120) - 40;

        for (int k = 0; k < 4; k++) {
            qrt_ifmr_init(&o[k], storage[k], bytes);
        }
        for (int part = 0; part < 9; part++) {
            /* The fourth one takes turns, and units of its own. */
            uint32_t up = bits < 24 ? help_below(8) : 0;
            enum qrt_type any = types[help_below(3)];

            for (int i = 0; i < 1000; i++) {
                v[i] = integer(bits, round % 4);
            }
            for (int k = 0; k < 3; k++) {
                add_as(&o[k], types[k], v, 1000, frac);
            }
            for (int i = 0; i < 1000; i++) {
                v[i] *= (int32_t)1 << up;
            }
            add_as(&o[3], any, v, 1000, frac + (int32_t)up);
        }
        assert_same(&o[2], &o[0], "int16");
        assert_same(&o[2], &o[1], "int32");
        assert_same(&o[2], &o[3], "any type and unit");
    }
}

/* Bins are there already: integers may be wider than one, or thousands of them
 * fit. */
static void units_may_be_finer_and_coarser_than_bins(void **state)
{
    static float x[5000];
    static int32_t v[1000];
    struct qrt_ifmr_observer bins, o[3];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        x[i] = (float)(i % 2 == 0 ? help_uniform() : -help_uniform()) * 900;
    }
    observe(&bins, storage[3], 8192, (const uint32_t *)(void *)x, 5000);
    for (int32_t frac = -12; frac <= 40; frac++) {
        for (int k = 0; k < 3; k++) {
            o[k] = bins;
            o[k].cells = memcpy(storage[k], storage[3], 8192);
        }
        for (int i = 0; i < 1000; i++) {
            double all = ldexp(help_uniform() * 890 * (i % 2 * 2 - 1), frac);

            v[i] = (int32_t)fmax(-INT32_MAX, fmin(INT32_MAX, all));
            v[i] = i % 3 == 0 ? v[i] % (1 + (int32_t)help_below(32768)) : v[i];
        }
        for (int i = 0; i < 1000; i++) { /* int16 where it fits */
            add_as(&o[0], QRT_S16, v + i, 1, frac);
        }
        add_as(&o[1], QRT_S32, v, 1000, frac);
        add_as(&o[2], QRT_BITS, v, 1000, frac);
        assert_same(&o[2], &o[0], "int16");
        assert_same(&o[2], &o[1], "int32");
    }
}

static void merging_leaves_the_other_observer_alone(void **state)
{
    static float x[5000];
    struct qrt_ifmr_observer a, b, before;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        x[i] = sample(0);
    }
    observe(&a, storage[0], 4096, (const uint32_t *)(void *)x, 5000);
    observe(&b, storage[1], 4096, (const uint32_t *)(void *)x, 3000);
    before = b;
    memcpy(storage[2], storage[1], 4096);
    assert_int_equal(qrt_ifmr_merge(&a, &b), QRT_OK);
    assert_memory_equal(&b, &before, sizeof b);
    assert_memory_equal(storage[1], storage[2], 4096);
}

static void an_empty_observer_changes_nothing(void **state)
{
    static float x[5000];
    struct qrt_ifmr_observer a, b, none;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        x[i] = sample(3);
    }
    for (size_t n = 100; n <= 5000; n += 4900) {
        observe(&a, storage[0], 4096, (const uint32_t *)(void *)x, n);
        observe(&b, storage[1], 4096, (const uint32_t *)(void *)x, n);
        qrt_ifmr_init(&none, storage[2], 4096);
        assert_int_equal(qrt_ifmr_merge(&a, &none), QRT_OK);
        assert_same(&a, &b, "empty into full");
        assert_int_equal(qrt_ifmr_merge(&none, &b), QRT_OK);
        assert_same(&none, &b, "full into empty");
    }
}

static void merging_refuses_what_does_not_fit(void **state)
{
    struct qrt_ifmr_observer a, b, unset;

    (void)state;
    memset(&unset, 0, sizeof unset);
    qrt_ifmr_init(&a, storage[0], 4096);
    qrt_ifmr_init(&b, storage[1], 8192);
    assert_int_equal(qrt_ifmr_merge(NULL, &a), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_merge(&a, NULL), QRT_ERR_NULL);
    assert_int_equal(qrt_ifmr_merge(&a, &unset), QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_merge(&unset, &a), QRT_ERR_STATE);
    assert_int_equal(qrt_ifmr_merge(&a, &b), QRT_ERR_MISMATCH);
    assert_int_equal(qrt_ifmr_merge(&a, &a), QRT_ERR_MISMATCH);
    qrt_ifmr_init(&b, storage[1], 4096);
    a.samples = 1u << 24;
    b.samples = 1u << 24;
    assert_int_equal(qrt_ifmr_merge(&a, &b), QRT_ERR_FULL);
    b.samples -= 1;
    assert_int_equal(qrt_ifmr_merge(&a, &b), QRT_OK);
    assert_int_equal(a.samples, QRT_IFMR_SAMPLES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_data_in_any_split_give_the_same_bytes),
        cmocka_unit_test(real_activations_in_any_split_give_the_same_bytes),
        cmocka_unit_test(order_inside_a_part_does_not_matter),
        cmocka_unit_test(integers_give_the_bytes_of_the_same_floats),
        cmocka_unit_test(a_number_has_one_bin_whatever_its_type),
        cmocka_unit_test(units_may_be_finer_and_coarser_than_bins),
        cmocka_unit_test(merging_leaves_the_other_observer_alone),
        cmocka_unit_test(an_empty_observer_changes_nothing),
        cmocka_unit_test(merging_refuses_what_does_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
