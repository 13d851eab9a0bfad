/* A crowd of learned garments in plain C: load a model, pose three wearers, step at 60 Hz, read vertices and
 * coefficients, and see what bad input gets. The tests compile it with
 *
 *   cc -std=c99 -Wall -Wextra -pedantic -Werror -I bindings/c/include crowd.c -ltoile_c -lm
 */
#include "toile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GARMENTS 3

static void must(ToileStatus status, const char *what) {
  if (status != TOILE_STATUS_OK) {
    fprintf(stderr, "%s: status %d: %s\n", what, (int)status, toile_last_error());
    exit(1);
  }
}

static void refused(ToileStatus status, ToileStatus expected, const char *what) {
  if (status != expected || strlen(toile_last_error()) == 0) {
    fprintf(stderr, "%s: status %d, not %d: %s\n", what, (int)status, (int)expected, toile_last_error());
    exit(1);
  }
}

/* Column-major 4x4: a small turn about the vertical and a sway. */
static void pose(float *bones, size_t joints, double secs, int who) {
  for (size_t j = 0; j < joints; j++) {
    float *m = bones + 16 * j;
    double angle = 0.2 * sin(3.0 * secs + 0.4 * (double)j + who);
    memset(m, 0, 16 * sizeof(float));
    m[0] = m[10] = (float)cos(angle);
    m[2] = (float)-sin(angle);
    m[8] = (float)sin(angle);
    m[5] = m[15] = 1.0f;
    m[13] = (float)(0.02 * sin(2.0 * secs));
  }
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: crowd model.toile\n");
    return 2;
  }
  if (toile_abi_version() != TOILE_ABI_VERSION) {
    fprintf(stderr, "the library is another version than the header\n");
    return 1;
  }

  ToileModel *model = NULL;
  must(toile_model_from_file(argv[1], &model), "model");
  ToileModelInfo info = {0};
  info.size = sizeof info;
  must(toile_model_info(model, &info), "info");

  ToileCrowdSettings settings = {sizeof settings, 2, 1};
  ToileCrowd *crowd = NULL;
  must(toile_crowd_new(&settings, &crowd), "crowd");
  uint32_t id = 0;
  must(toile_crowd_add_model(crowd, model, GARMENTS, &id), "add model");
  toile_model_free(model); /* the crowd keeps what it needs */

  ToileInstance garments[GARMENTS];
  for (int i = 0; i < GARMENTS; i++) must(toile_crowd_add(crowd, id, &garments[i]), "add");
  ToileInstance one_more;
  refused(toile_crowd_add(crowd, id, &one_more), TOILE_STATUS_FULL, "more garments than reserved");

  float *bones = malloc(info.joints * 16 * sizeof *bones);
  /* Position, normal and texture coordinate interleaved, as vertex buffers often are. */
  float *buffer = calloc(info.vertices, 8 * sizeof *buffer);
  float *weights = calloc(info.cloth_dims, sizeof *weights);
  if (!bones || !buffer || !weights) return 1;

  for (int frame = 0; frame < 120; frame++) {
    double secs = frame / 60.0;
    for (int i = 0; i < GARMENTS; i++) {
      ToileActor actor = {{2.0 * i, 0.0, 0.5 * secs}, {0.0f, 0.0f, 0.0f, 1.0f}};
      pose(bones, info.joints, secs, i);
      must(toile_crowd_set_pose(crowd, garments[i], &actor, bones, info.joints, 16, NULL), "pose");
    }
    /* What bad input gets: a status and a message; the garments keep their good poses. */
    ToileActor actor = {{0.0, 0.0, 0.0}, {0.0f, 0.0f, 0.0f, 1.0f}};
    refused(toile_crowd_set_pose(crowd, garments[0], &actor, bones, info.joints + 1, 16, NULL),
            TOILE_STATUS_COUNT, "too many bones");
    refused(toile_crowd_set_pose(crowd, garments[0], NULL, bones, info.joints, 16, NULL), TOILE_STATUS_NULL,
            "no actor");
    bones[5] = NAN;
    refused(toile_crowd_set_pose(crowd, garments[0], &actor, bones, info.joints, 16, NULL),
            TOILE_STATUS_NOT_FINITE, "a bone that is not a number");
    bones[5] = 2.0f;
    refused(toile_crowd_set_pose(crowd, garments[0], &actor, bones, info.joints, 16, NULL),
            TOILE_STATUS_NOT_RIGID, "a bone that stretches");
    refused(toile_crowd_step(crowd, 0.0, NULL), TOILE_STATUS_TIME_STEP, "no time at all");

    ToileCrowdReport report = {0};
    report.size = sizeof report;
    must(toile_crowd_step(crowd, 1.0 / 60.0, &report), "step");
    if (report.stepped != GARMENTS || report.refused != 2) {
      fprintf(stderr, "frame %d: %u stepped, %u refused\n", frame, report.stepped, report.refused);
      return 1;
    }
    must(toile_crowd_draw(crowd), "draw");
  }

  must(toile_crowd_vertices(crowd, garments[1], buffer, info.vertices, 8 * sizeof *buffer), "vertices");
  must(toile_crowd_normals(crowd, garments[1], buffer + 3, info.vertices, 8 * sizeof *buffer), "normals");
  must(toile_crowd_coefficients(crowd, garments[1], weights, info.cloth_dims, sizeof *weights), "weights");
  refused(toile_crowd_vertices(crowd, garments[1], buffer, info.vertices - 1, 12), TOILE_STATUS_BUFFER,
          "a buffer that is too small");
  ToileRoot root;
  must(toile_crowd_root(crowd, garments[1], &root), "root");

  double middle = 0.0;
  for (uint32_t v = 0; v < info.vertices; v++) {
    const float *p = buffer + 8 * v;
    double length = sqrt((double)p[3] * p[3] + (double)p[4] * p[4] + (double)p[5] * p[5]);
    double far = fabs(p[0] - root.position[0]) + fabs(p[2] - root.position[2]);
    if (!isfinite(p[0] + p[1] + p[2]) || (length > 1e-3 && fabs(length - 1.0) > 1e-4) || far > 20.0) {
      fprintf(stderr, "vertex %u is at %f %f %f, normal of length %f\n", v, p[0], p[1], p[2], length);
      return 1;
    }
    if (p[6] != 0.0f || p[7] != 0.0f) {
      fprintf(stderr, "texture coordinates were written over\n");
      return 1;
    }
    middle += p[0] / info.vertices;
  }
  must(toile_crowd_remove(crowd, garments[1]), "remove");
  refused(toile_crowd_remove(crowd, garments[1]), TOILE_STATUS_GONE, "a garment that is gone");
  printf("%u vertices, %u weights; garment 1 stands at x = %.3f\n", info.vertices, info.cloth_dims, middle);
  toile_crowd_free(crowd);
  free(weights);
  free(buffer);
  free(bones);
  return 0;
}
