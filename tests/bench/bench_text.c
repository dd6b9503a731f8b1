/* quant.cfg with many overrides: quantc against `protoc --encode`, whole
 * processes, processor time; and what twice the layers cost.
 *
 *   bench_text QUANTC PROTO_FOLDER WORK_FOLDER
 *
 * The two take turns; the best of the rounds counts. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 15

static void make_file(const char *path, int layers)
{
    FILE *f = fopen(path, "w");
    int i;

    if (!f)
        exit(2);
    fputs("activation_offset : true\n", f);
    for (i = 0; i < layers; i++)
        fprintf(f,
                "override_layer_configs : {\n"
                "    layer_name : \"backbone.layer%d.block%d.conv%d\"\n"
                "    calibration_config : {\n"
                "        arq_quantize : {\n"
                "            channel_wise : %s\n"
                "        }\n"
                "        ifmr_quantize : {\n"
                "            search_range_start : 0.7\n"
                "            search_range_end : 1.3\n"
                "            search_step : 0.01\n"
                "            max_percentile : 0.999999\n"
                "            min_percentile : 0.999999\n"
                "            asymmetric : %s\n"
                "        }\n"
                "    }\n"
                "}\n",
                i / 100, i / 10, i, i % 3 ? "true" : "false",
                i % 5 ? "true" : "false");
    fclose(f);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Processor time of a program that reads `input`; negative when it fails. */
static double run(char *const argv[], const char *input)
{
    struct rusage used;
    int status, in, out;
    pid_t pid = fork();

    if (pid == 0) {
        in = open(input, O_RDONLY);
        out = open("/dev/null", O_WRONLY);
        dup2(in, 0);
        dup2(out, 1);
        dup2(out, 2);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status != 0)
        return -1;
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

static void best_of(double *best, double t)
{
    if (*best < 0 || (t >= 0 && t < *best))
        *best = t;
}

int main(int argc, char **argv)
{
    char one[1000], two[1000], include[1000];
    double best_one = -1, best_two = -1, best_protoc = -1;
    int i;

    if (argc != 4)
        return 2;
    snprintf(one, sizeof(one), "%s/overrides-10000.cfg", argv[3]);
    snprintf(two, sizeof(two), "%s/overrides-20000.cfg", argv[3]);
    snprintf(include, sizeof(include), "-I%s", argv[2]);
    make_file(one, 10000);
    make_file(two, 20000);
    for (i = 0; i < ROUNDS; i++) {
        char *const check_one[] = {argv[1], "check", "--kind=calib", one, NULL};
        char *const check_two[] = {argv[1], "check", "--kind=calib", two, NULL};
        char *const encode[] = {"protoc", "--encode=qc.calib.AMCTConfig",
                                include, "calibration_config.proto", NULL};

        best_of(&best_one, run(check_one, "/dev/null"));
        best_of(&best_two, run(check_two, "/dev/null"));
        best_of(&best_protoc, run(encode, one));
    }
    if (best_one < 0 || best_two < 0)
        return 1;
    printf("quantc check, 10,000 overrides   %6.1f ms\n", best_one * 1e3);
    printf("quantc check, 20,000 overrides   %6.1f ms, %.2f times as long "
           "(at most 2.3)\n",
           best_two * 1e3, best_two / best_one);
    if (best_protoc < 0)
        puts("skipped: protoc is not installed");
    else
        printf("protoc --encode, 10,000          %6.1f ms, %.2f times as long "
               "(at least 2.5)\n",
               best_protoc * 1e3, best_protoc / best_one);
    return 0;
}
