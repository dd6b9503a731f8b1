/* One exact IFMR search over N samples, for counting its instructions.
 *   budget_ifmr N */
#include "qrt_f32.h"

#include <stdio.h>
#include <stdlib.h>

/* About normal: the sum of twelve uniform draws. */
static float draw(uint64_t *seed)
{
    float sum = -6.0f;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        sum += (float)(*seed >> 40) / 16777216.0f;
    }
    return sum;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    float ratios[61], *x = malloc(n * sizeof *x);
    size_t size = qrt_ifmr_f32_state_size(61);
    void *state = malloc(size);
    struct qrt_ifmr_f32_config cfg = {8,  true,     false,   ratios,
                                      61, 0.999999, 0.999999};
    struct qrt_ifmr_f32_result r;
    uint64_t seed = 2;
    if (n == 0 || !x || !state)
        return 2;
    for (size_t i = 0; i < n; i++)
        x[i] = draw(&seed);
    qrt_ifmr_f32_ratios(0.7, 0.01, 61, ratios);
    if (qrt_ifmr_f32_search(state, size, &cfg, x, n, &r) != QRT_OK)
        return 1;
    printf("candidate %u of %u, %u pass(es)\n", r.index, r.decided, r.passes);
    return r.passes == 1 ? 0 : 3; /* a second pass would be counted too */
}
