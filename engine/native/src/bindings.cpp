// The only file that knows Python: the module engine.native._native.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "ggml_build.h"

NB_MODULE(_native, module) {
    module.doc() = "Gannet's native core.";
    module.def("ggml_version", &gannet::ggml_version_string, "Version of the libggml this process has loaded.");
}
