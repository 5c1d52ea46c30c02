// Which CTA with a given index is resident: a table in pages that exist while one of theirs is.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace assay::vgpu {

struct Cta;

class CtaTable {
public:
  explicit CtaTable(uint32_t ctas) : pages_(ctas / kPage + 1) {}

  Cta* find(uint32_t index) const {
    const auto& page = pages_[index / kPage];
    return page ? page->ctas[index % kPage] : nullptr;
  }
  void insert(uint32_t index, Cta* cta) {
    auto& page = pages_[index / kPage];
    if (!page) page = spare_ ? std::move(spare_) : std::make_unique<Page>();
    page->ctas[index % kPage] = cta;
    ++page->count;
  }
  void erase(uint32_t index) {
    auto& page = pages_[index / kPage];
    page->ctas[index % kPage] = nullptr;
    if (!--page->count) spare_ = std::move(page);
  }

private:
  static constexpr uint32_t kPage = 512;
  struct Page {
    std::array<Cta*, kPage> ctas{};
    uint32_t count = 0;
  };
  std::vector<std::unique_ptr<Page>> pages_;
  std::unique_ptr<Page> spare_; // an empty one
};

} // namespace assay::vgpu
