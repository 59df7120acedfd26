/* SPDX-License-Identifier: MIT */
/* The program dotnet for musl: hands its arguments to hostfxr.  host app.dll ARGUMENT...; DOTNET_ROOT and FXR_VERSION are set. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*startup_fn)(int argc, const char **argv, const char *host, const char *root,
			  const char *app);

int main(int argc, char **argv)
{
	char path[4096], host[4096], app[4096];
	const char *root = getenv("DOTNET_ROOT"), *version = getenv("FXR_VERSION");
	if (!root || !version || argc < 2) {
		(void)fprintf(stderr, "DOTNET_ROOT, FXR_VERSION and a program are needed\n");
		return 2;
	}
	(void)snprintf(path, sizeof(path), "%s/host/fxr/%s/libhostfxr.so", root, version);
	void *library = dlopen(path, RTLD_NOW);
	void *symbol = library ? dlsym(library, "hostfxr_main_startupinfo") : NULL;
	if (!symbol) {
		(void)fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	startup_fn run;
	memcpy(&run, &symbol, sizeof(symbol));
	(void)snprintf(host, sizeof(host), "%s/dotnet", root);
	(void)snprintf(app, sizeof(app), "%s/dotnet.dll", root);
	return run(argc, (const char **)argv, host, root, app);
}
