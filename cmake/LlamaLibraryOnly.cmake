# Read by CMake right after llama.cpp's project() while llama-cpp-python is built for a checkout: leaves out the helper
# library of llama.cpp's command-line tools. Nothing here uses it, and it is more than a third of the compile time.
# llama-cpp-python switches it on in the cache; a variable of this scope hides that.
set(LLAMA_BUILD_COMMON OFF)
