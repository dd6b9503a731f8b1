/* Times the front end on a config.json of 10,000 layers (in memory:
 * characters, grammar, names and types, values; memory freed) against
 * cJSON_Parse alone on the same text, and on twice as many layers. CPU time,
 * best of several. */
#define _POSIX_C_SOURCE 200809L
#include "json.h"
#include "parse.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LAYERS 10000
#define ROUNDS 11

static const char layer[] = "    \"backbone.stage%d.block%d.conv\":{\n"
                            "        \"retrain_enable\":true,\n"
                            "        \"retrain_data_config\":{\n"
                            "            \"algo\":\"ulq_quantize\",\n"
                            "            \"clip_max\":2.7,\n"
                            "            \"clip_min\":-2.7,\n"
                            "            \"fixed_min\":false,\n"
                            "            \"dst_type\":\"INT8\"\n"
                            "        },\n"
                            "        \"retrain_weight_config\":{\n"
                            "            \"algo\":\"arq_retrain\",\n"
                            "            \"channel_wise\":true,\n"
                            "            \"dst_type\":\"INT8\"\n"
                            "        }\n"
                            "    },\n";

static char *make_file(int layers)
{
    char *text = malloc((size_t)layers * (sizeof(layer) + 20) + 100),
         *to = text;
    int i;

    to += sprintf(to, "{\n");
    for (i = 0; i < layers; i++)
        to += sprintf(to, layer, i / 100, i);
    sprintf(to, "    \"version\":1,\n    \"batch_num\":1\n}\n");
    return text;
}

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void read_file(const char *text)
{
    struct qc qc = {0};
    struct qc_file *f;
    struct qc_node *root;
    void *bound;

    qc_diag_init(&qc);
    f = qc_load_text(&qc, "config.json", text, strlen(text));
    qc_check_encoding(&qc, f);
    root = qc_parse_json(&qc, f);
    bound = qc_bind_json(&qc, root, QC_KIND_JSON_RETRAIN, QC_UNION);
    qc_check_json(&qc, f, QC_KIND_JSON_RETRAIN, bound);
    if (f->errors)
        abort();
    qc_free_all(&qc);
}

static cJSON *parsed; /* deleted outside of the time */

static void read_cjson(const char *text)
{
    parsed = cJSON_Parse(text);
    if (!parsed)
        abort();
}

static double best(void (*read)(const char *), const char *text)
{
    double least = 1e9;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        double start = cpu(), took;

        read(text);
        took = cpu() - start;
        cJSON_Delete(parsed);
        parsed = NULL;
        if (took < least)
            least = took;
    }
    return least;
}

int main(void)
{
    char *one = make_file(LAYERS), *two = make_file(2 * LAYERS);
    double ours = best(read_file, one), theirs = best(read_cjson, one),
           twice = best(read_file, two);

    printf("config.json, %d layers, %.1f MB\n", LAYERS,
           (double)strlen(one) / 1e6);
    printf("  front end of quantc  %6.1f ms  %.2f of cJSON_Parse (at most 3)\n",
           ours, ours / theirs);
    printf("  cJSON_Parse          %6.1f ms\n", theirs);
    printf("  twice the layers     %6.1f ms  %.2f of once (at most 2.3)\n",
           twice, twice / ours);
    free(one);
    free(two);
    return 0;
}
