#include "direct_file.h"

#include <utility>

namespace gannet {

DirectFile::~DirectFile() {
    close();
}

DirectFile::DirectFile(DirectFile&& other) noexcept {
    *this = std::move(other);
}

DirectFile& DirectFile::operator=(DirectFile&& other) noexcept {
    if (this != &other) {
        close();
        handle_ = other.handle_;
        direct_ = other.direct_;
        alignment_ = other.alignment_;
        open_ = std::exchange(other.open_, false);
    }
    return *this;
}

}  // namespace gannet
