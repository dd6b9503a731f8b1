/* Runs the test images through the network in floating point and in integers
 * and prints how far apart the two are. A host program. */
#include "float_net.h"
#include "net.h"
#include "test_set.h"

#include <math.h>
#include <stdio.h>

static int float_class(const float logits[FLOAT_NET_CLASSES])
{
    int best = 0;
    int i;

    for (i = 1; i < FLOAT_NET_CLASSES; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

int main(void)
{
    static struct net_memory memory;
    double largest = 0, largest_logit = 0;
    int correct = 0, same = 0;
    int i, k;

    for (i = 0; i < TEST_SET_COUNT; i++) {
        float real[FLOAT_NET_CLASSES];
        int32_t integer[NET_CLASSES];

        float_net_run(&test_set[i], real);
        if (net_run(&test_set[i], &memory, integer) != QRT_OK)
            return 1;
        correct += float_class(real) == test_set[i].label;
        same += float_class(real) == net_class(integer);
        for (k = 0; k < NET_CLASSES; k++) {
            double q = ldexp(integer[k], -NET_LOGIT_FRAC);

            largest = fmax(largest, fabs(q - (double)real[k]));
            largest_logit = fmax(largest_logit, fabs((double)real[k]));
        }
    }
    printf("float in C: %d of %d correct, %.1f %%\n", correct, TEST_SET_COUNT,
           100.0 * correct / TEST_SET_COUNT);
    printf("same answer as in integers: %d of %d images; logits differ by at "
           "most %.3f of %.3f\n",
           same, TEST_SET_COUNT, largest, largest_logit);
    return correct != TEST_SET_FLOAT_CORRECT;
}
