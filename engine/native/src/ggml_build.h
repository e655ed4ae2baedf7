// Which ggml this process computes with.
#pragma once

#include <string>

namespace gannet {

// The version string of the loaded libggml, such as "0.9.4". Never empty.
std::string ggml_version_string();

}  // namespace gannet
