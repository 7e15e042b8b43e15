/* replay.c - runs a fuzz target over files, for compilers without libFuzzer: link with one fuzz_NAME.c; replay FILE... */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static int
replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	long size;

	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0) {
		perror(path);
		return 1;
	}
	/* Its own allocation of the very size, so that a sanitizer sees the first byte too many. */
	data = malloc(size > 0 ? (size_t)size : 1);
	size_t got = data != NULL ? fread(data, 1, (size_t)size, f) : 0;
	fclose(f);
	if (got == (size_t)size)
		LLVMFuzzerTestOneInput(data, got);
	free(data);
	return got != (size_t)size;
}

int
main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	printf("%d inputs\n", argc - 1);
	return failed;
}
