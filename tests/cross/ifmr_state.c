/* Prints a checksum over saved IFMR states and results: one number for every
 * machine. Run by tests/test_ifmr_cross.sh. */
#include "qrt_f32.h"

#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 6000

static uint32_t sum = 0x811c9dc5u; /* FNV-1a */

static void add(const void *p, size_t n)
{
    const uint8_t *b = p;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ b[i]) * 0x01000193u;
}

/* About normal, without libm. */
static float draw(uint64_t *seed)
{
    float t = -6.0f;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        t += (float)(*seed >> 40) / 16777216.0f;
    }
    return t;
}

/* Numbers as text: the bytes of a struct are the machine's own. */
static void add_result(const struct qrt_ifmr_f32_result *r)
{
    char t[400];
    int n = snprintf(t, sizeof t, "%a %d %u %u %a %a %a %a %a",
                     (double)r->scale, (int)r->offset, (unsigned)r->index,
                     (unsigned)r->decided, r->loss, r->loss_error, r->gap,
                     r->clipped, (double)r->clip_max);
    add(t, (size_t)n);
}

static int search(void *state, size_t size,
                  const struct qrt_ifmr_f32_config *cfg, const float *x)
{
    static uint8_t bytes[2000000];
    struct qrt_ifmr_f32_result r;
    size_t len;
    if (qrt_ifmr_f32_init(state, size, cfg) != QRT_OK)
        return 1;
    do {
        if (qrt_ifmr_f32_add(state, x, SAMPLES, NULL) != QRT_OK ||
            qrt_ifmr_f32_save(state, bytes, sizeof bytes, &len) != QRT_OK ||
            qrt_ifmr_f32_finish(state, &r) != QRT_OK)
            return 1;
        add(bytes, len);
    } while (r.again);
    add_result(&r);
    return 0;
}

int main(void)
{
    static float x[SAMPLES], ratios[61];
    size_t size = qrt_ifmr_f32_state_size(61);
    void *state = malloc(size);
    uint64_t seed = 3;
    qrt_ifmr_f32_ratios(0.7, 0.01, 61, ratios);
    for (int k = 0; state && k < 12; k++) {
        struct qrt_ifmr_f32_config cfg = {
            k % 4 == 3 ? 16 : 8,          k & 1,   k % 4 == 1, ratios, 61,
            k % 4 == 2 ? 0.99 : 0.999999, 0.999999};
        for (int i = 0; i < SAMPLES; i++) {
            float t = draw(&seed);
            x[i] = k % 3 == 0 ? t : k % 3 == 2 ? t * t * t : t > 0 ? t : 0;
        }
        if (search(state, size, &cfg, x))
            return 1;
    }
    printf("%08lx\n", (unsigned long)sum);
    return 0;
}
