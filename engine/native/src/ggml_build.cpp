#include "ggml_build.h"

#include "ggml.h"

namespace gannet {

std::string ggml_version_string() {
    return ggml_version();
}

}  // namespace gannet
