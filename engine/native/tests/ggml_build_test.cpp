#include <doctest/doctest.h>

#include <cctype>

#include "ggml_build.h"

// When this fails the core is linked to no ggml or to one without a version, and every error report would name none.
TEST_CASE("the loaded ggml names its version as dotted numbers") {
    const std::string version = gannet::ggml_version_string();
    REQUIRE_FALSE(version.empty());
    CHECK(std::isdigit(static_cast<unsigned char>(version.front())));
    CHECK(version.find('.') != std::string::npos);
}
