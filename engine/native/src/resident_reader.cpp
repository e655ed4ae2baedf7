#include "resident_reader.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "address_space.h"

namespace gannet {
namespace {

constexpr std::uint64_t kPiece = 4 << 20;
constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kLargestBlock = 64 << 10;

}  // namespace

ResidentReader::ResidentReader(std::vector<std::string> paths, std::uint32_t threads, bool direct)
    : paths_(std::move(paths)), direct_(direct) {
    const std::uint32_t n = std::max(1U, threads);
    try {
        for (std::uint32_t i = 0; i < n; i++) {
            AddressSpace bounce(kPiece + 2 * kLargestBlock, AddressSpace::Access::kReadWrite);
            bounce.commit(0, bounce.size());
            threads_.emplace_back([this, memory = std::move(bounce)] { main(memory.data()); });
        }
    } catch (...) {
        end_threads();
        throw;
    }
}

ResidentReader::~ResidentReader() {
    end_threads();
}

void ResidentReader::read(std::uint32_t file, std::uint64_t offset, std::uint64_t size, std::byte* to) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::uint64_t at = 0, n = 0; at < size; at += n) {
        n = std::min(kPiece - (offset + at) % kPiece, size - at);  // cut where blocks begin
        pieces_.push_back({file, offset + at, n, to + at});
    }
    queued_ += size;
    work_.notify_all();
}

std::string ResidentReader::finish() {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return pieces_.empty() && in_service_ == 0; });
    std::string error = std::exchange(error_, {});
    lock.unlock();
    end_threads();
    return error;
}

void ResidentReader::end_threads() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    work_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
}

void ResidentReader::cancel() {
    const std::lock_guard<std::mutex> lock(mutex_);
    pieces_.clear();
    idle_.notify_all();
}

void ResidentReader::main(std::byte* bounce) {
    std::vector<DirectFile> files(paths_.size());
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        work_.wait(lock, [this] { return stop_ || !pieces_.empty(); });
        if (stop_) return;
        const Piece piece = pieces_.front();
        pieces_.pop_front();
        in_service_++;
        lock.unlock();
        std::string error = copy(files, bounce, piece);
        lock.lock();
        in_service_--;
        done_ += piece.size;
        if (!error.empty() && error_.empty()) error_ = std::move(error);
        idle_.notify_all();
    }
}

std::string ResidentReader::copy(std::vector<DirectFile>& files, std::byte* bounce, const Piece& piece) {
    try {
        DirectFile& file = files[piece.file];
        if (!file.is_open()) file = DirectFile(paths_[piece.file], direct_);
        const std::uint64_t block = std::clamp<std::uint64_t>(file.alignment(), kBlock, kLargestBlock);
        const std::uint64_t head = std::min((block - piece.offset % block) % block, piece.size);
        const std::uint64_t whole = (piece.size - head) / block * block;
        std::byte* const middle = piece.to + head;
        if (whole == 0 || reinterpret_cast<std::uintptr_t>(middle) % block != 0) {
            copy_through(file, bounce, piece, block);
            return {};
        }
        const std::uint64_t tail = piece.size - head - whole;
        file.read(piece.offset + head, middle, whole, whole);
        if (head > 0) copy_through(file, bounce, {piece.file, piece.offset, head, piece.to}, block);
        if (tail > 0)
            copy_through(file, bounce, {piece.file, piece.offset + head + whole, tail, middle + whole}, block);
    } catch (const std::exception& e) {
        return paths_[piece.file] + ": reading the model failed: " + e.what();
    }
    return {};
}

void ResidentReader::copy_through(const DirectFile& file, std::byte* bounce, const Piece& piece, std::uint64_t block) {
    const std::uint64_t begin = piece.offset / block * block;
    const std::uint64_t shift = piece.offset - begin;
    const std::uint64_t needed = shift + piece.size;
    file.read(begin, bounce, (needed + block - 1) / block * block, needed);
    std::memcpy(piece.to, bounce + shift, piece.size);
}

}  // namespace gannet
