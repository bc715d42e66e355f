#include "formats/manifest.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "formats/checksum.h"
#include "formats/status_macros.h"

namespace rag::formats {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTailStart = "  \"checksum\": \"";
constexpr std::size_t kXxh3Digits = 16;
constexpr std::size_t kXxh128Digits = 32;
constexpr std::string_view kTailEnd = "\"\n}\n";
constexpr std::size_t kTailSize = kTailStart.size() + kXxh3Digits + kTailEnd.size();
// An entry of `files` is at depth 2. The library copies and prints what it parsed by recursion, so
// a text that nests without end would use up the stack.
constexpr int kMaxDepth = 8;
constexpr std::uint64_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();

bool IsHex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// "a/b.c": relative, and nothing that leaves the folder or names one file in two ways.
bool IsPlainRelativePath(std::string_view path) {
  if (path.find_first_of(std::string_view("\\\0", 2)) != path.npos) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

// Reads the members of one object. The first wrong one makes the reader fail for good, so a decoder
// reads all its fields and checks once.
class ObjectReader {
 public:
  ObjectReader(const Json* object, std::string where) : where_(std::move(where)) {
    object_ = object != nullptr && object->is_object() ? object : nullptr;
    if (object_ == nullptr) Fail("", "expected an object");
  }

  const Json* Member(const std::string& key) {
    if (object_ == nullptr) return nullptr;
    ++num_read_;
    const auto found = object_->find(key);
    if (found != object_->end()) return &*found;
    Fail(key, "is missing");
    return nullptr;
  }

  void Number(const std::string& key, std::uint64_t& value, std::uint64_t max = kMaxU64) {
    const Json* member = Member(key);
    if (member == nullptr) return;
    const auto* number = member->get_ptr<const Json::number_unsigned_t*>();
    if (number == nullptr || *number > max) {
      Fail(key, "expected a number from 0 to " + std::to_string(max) + ", found " + Show(*member));
      return;
    }
    value = *number;
  }

  void Number(const std::string& key, std::uint32_t& value) {
    std::uint64_t wide = 0;
    Number(key, wide, kMaxU32);
    value = static_cast<std::uint32_t>(wide);
  }

  void Boolean(const std::string& key, bool& value) {
    const Json* member = Member(key);
    if (member == nullptr) return;
    const auto* boolean = member->get_ptr<const Json::boolean_t*>();
    if (boolean == nullptr) return Fail(key, "expected true or false, found " + Show(*member));
    value = *boolean;
  }

  void String(const std::string& key, std::string& value) {
    const Json* member = Member(key);
    if (member == nullptr) return;
    const auto* text = member->get_ptr<const Json::string_t*>();
    if (text == nullptr) return Fail(key, "expected a string, found " + Show(*member));
    value = *text;
  }

  void OneOf(const std::string& key, std::initializer_list<std::string_view> choices,
             std::string& value) {
    String(key, value);
    if (!ok() || std::find(choices.begin(), choices.end(), value) != choices.end()) return;
    std::string message = "expected one of";
    for (const std::string_view choice : choices) message.append(" ").append(choice);
    Fail(key, message + ", found " + value);
  }

  void Fail(const std::string& key, const std::string& message) {
    if (!ok()) return;
    error_ = where_ + (where_.empty() || key.empty() ? "" : ".") + key;
    error_ += (error_.empty() ? "" : ": ") + message;
  }

  [[nodiscard]] bool ok() const { return error_.empty(); }

  // Also refuses members that nothing asked for. Empty when all is well.
  std::string Finish() {
    if (ok() && object_->size() != num_read_) {
      Fail("", "expected " + std::to_string(num_read_) + " members, found " +
                   std::to_string(object_->size()));
    }
    return error_;
  }

 private:
  static std::string Show(const Json& value) {
    constexpr std::size_t kMaxShown = 40;
    return value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, kMaxShown);
  }

  const Json* object_ = nullptr;
  std::string where_;
  std::size_t num_read_ = 0;
  std::string error_;
};

Json ToJson(const BuildParams& build) {
  return {{"profile", build.profile},
          {"splitter", build.splitter},
          {"summarizer", build.summarizer},
          {"embedder", build.embedder},
          {"token_counter", build.token_counter},
          {"source_prefix", build.source_prefix},
          {"chunk_dim", build.chunk_dim},
          {"document_dim", build.document_dim},
          {"reduction_budget_tokens", build.reduction_budget_tokens},
          {"shard_documents", build.shard_documents}};
}

std::string FromJson(const Json* json, BuildParams& build) {
  ObjectReader in(json, "build");
  in.String("profile", build.profile);
  in.String("splitter", build.splitter);
  in.String("summarizer", build.summarizer);
  in.String("embedder", build.embedder);
  in.String("token_counter", build.token_counter);
  in.String("source_prefix", build.source_prefix);
  in.Number("chunk_dim", build.chunk_dim);
  in.Number("document_dim", build.document_dim);
  in.Number("reduction_budget_tokens", build.reduction_budget_tokens);
  in.Number("shard_documents", build.shard_documents);
  return in.Finish();
}

Json ToJson(const QueryDefaults& query) {
  return {{"scorer", query.scorer},
          {"budget_tokens", query.budget_tokens},
          {"top_documents", query.top_documents},
          {"chunks_per_document", query.chunks_per_document},
          {"neighbors", query.neighbors},
          {"header", query.header},
          {"count_frame", query.count_frame}};
}

std::string FromJson(const Json* json, QueryDefaults& query) {
  ObjectReader in(json, "query");
  in.OneOf("scorer", {"bm25", "article"}, query.scorer);
  in.Number("budget_tokens", query.budget_tokens);
  in.Number("top_documents", query.top_documents);
  in.Number("chunks_per_document", query.chunks_per_document);
  in.Boolean("neighbors", query.neighbors);
  in.OneOf("header", {"full", "short", "none"}, query.header);
  in.Boolean("count_frame", query.count_frame);
  return in.Finish();
}

Json ToJson(const Counts& counts) {
  return {{"documents", counts.documents},       {"chunks", counts.chunks},
          {"parents", counts.parents},           {"summary_nodes", counts.summary_nodes},
          {"segments", counts.segments},         {"document_vectors", counts.document_vectors},
          {"corpus_bytes", counts.corpus_bytes}, {"skipped_files", counts.skipped_files}};
}

std::string FromJson(const Json* json, Counts& counts) {
  ObjectReader in(json, "counts");
  in.Number("documents", counts.documents);
  in.Number("chunks", counts.chunks);
  in.Number("parents", counts.parents);
  in.Number("summary_nodes", counts.summary_nodes);
  in.Number("segments", counts.segments);
  in.Number("document_vectors", counts.document_vectors);
  in.Number("corpus_bytes", counts.corpus_bytes);
  in.Number("skipped_files", counts.skipped_files);
  return in.Finish();
}

Json ToJson(const Fit& fit) {
  return {{"chunks", fit.chunks}, {"changed_chunks", fit.changed_chunks}};
}

std::string FromJson(const Json* json, Fit& fit) {
  ObjectReader in(json, "fit");
  in.Number("chunks", fit.chunks);
  in.Number("changed_chunks", fit.changed_chunks);
  return in.Finish();
}

Json ToJson(const FileEntry& file) {
  return {{"path", file.path},
          {"size_bytes", file.size_bytes},
          {"xxh128", file.xxh128},
          {"header_bytes", file.header_bytes},
          {"header_xxh3", file.header_xxh3}};
}

std::string FromJson(const Json* json, const std::string& where, FileEntry& file) {
  ObjectReader in(json, where);
  in.String("path", file.path);
  in.Number("size_bytes", file.size_bytes);
  in.String("xxh128", file.xxh128);
  in.Number("header_bytes", file.header_bytes);
  in.String("header_xxh3", file.header_xxh3);
  if (!in.ok()) return in.Finish();
  if (!IsPlainRelativePath(file.path)) in.Fail("path", "leaves the folder: " + file.path);
  if (!IsHex(file.xxh128, kXxh128Digits)) in.Fail("xxh128", "expected 32 hexadecimal digits");
  if (file.header_bytes > file.size_bytes) in.Fail("header_bytes", "is over size_bytes");
  if (!IsHex(file.header_xxh3, file.header_bytes == 0 ? 0 : kXxh3Digits)) {
    in.Fail("header_xxh3", "expected 16 hexadecimal digits, or none for no header");
  }
  return in.Finish();
}

Json ToJson(const std::vector<FileEntry>& files) {
  Json array = Json::array();
  for (const FileEntry& file : files) array.push_back(ToJson(file));
  return array;
}

std::string FromJson(const Json* json, std::vector<FileEntry>& files) {
  if (json == nullptr || !json->is_array()) return "files: expected an array";
  files.reserve(json->size());
  for (const Json& entry : *json) {
    const std::string where = "files[" + std::to_string(files.size()) + "]";
    FileEntry file;
    std::string error = FromJson(&entry, where, file);
    if (!error.empty()) return error;
    if (!files.empty() && file.path <= files.back().path) {
      return where + ".path: expected above " + files.back().path + ", found " + file.path;
    }
    files.push_back(std::move(file));
  }
  return "";
}

template <typename Value>
Json ToJson(const std::map<std::string, Value>& values) {
  Json object = Json::object();
  for (const auto& [key, value] : values) object[key] = value;
  return object;
}

std::string FromJson(const Json* json, std::map<std::string, std::uint64_t>& values) {
  ObjectReader in(json, "family_keys");
  if (!in.ok()) return in.Finish();
  for (const auto& item : json->items()) in.Number(item.key(), values[item.key()]);
  return in.Finish();
}

std::string FromJson(const Json* json, std::map<std::string, std::string>& values) {
  ObjectReader in(json, "family_digests");
  if (!in.ok()) return in.Finish();
  for (const auto& item : json->items()) {
    std::string& digest = values[item.key()];
    in.String(item.key(), digest);
    if (!IsHex(digest, kXxh128Digits)) in.Fail(item.key(), "expected 32 hexadecimal digits");
  }
  return in.Finish();
}

std::string FromJson(const Json& json, Manifest& manifest) {
  ObjectReader in(&json, "");
  in.Member("format_version");  // checked by the caller
  in.Member("checksum");
  in.Number("generation", manifest.generation);
  in.String("created", manifest.created);
  in.String("program", manifest.program);
  in.String("corpus_root", manifest.corpus_root);
  const Json* build = in.Member("build");
  const Json* query = in.Member("query");
  const Json* counts = in.Member("counts");
  const Json* fit = in.Member("fit");
  const Json* family_keys = in.Member("family_keys");
  const Json* family_digests = in.Member("family_digests");
  const Json* files = in.Member("files");
  std::string error = in.Finish();
  if (error.empty()) error = FromJson(build, manifest.build);
  if (error.empty()) error = FromJson(query, manifest.query);
  if (error.empty()) error = FromJson(counts, manifest.counts);
  if (error.empty()) error = FromJson(fit, manifest.fit);
  if (error.empty()) error = FromJson(family_keys, manifest.family_keys);
  if (error.empty()) error = FromJson(family_digests, manifest.family_digests);
  if (error.empty()) error = FromJson(files, manifest.files);
  return error;
}

absl::Status Damaged(std::string_view name, const std::string& message) {
  return absl::DataLossError(std::string(name) + ": " + message +
                             "; the index is damaged, rebuild it with rag-index build");
}

// Refuses what the library would let pass, or not survive. A callback of Json::parse.
class StructureCheck {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kMaxDepth) problem_ = "nests deeper than a manifest does";
    if (event == Json::parse_event_t::object_start) members_.emplace_back();
    if (event == Json::parse_event_t::object_end) members_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!members_.back().insert(key).second) problem_ = "member " + key + " is there twice";
    }
    return problem_.empty();
  }
  // Empty when there is none.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::vector<std::set<std::string>> members_;  // of the objects that are open
  std::string problem_;
};

absl::Status CheckChecksum(std::string_view text, std::string_view name) {
  const std::size_t tail_at = text.size() - std::min(kTailSize, text.size());
  const std::string_view tail = text.substr(tail_at);
  if (tail.size() != kTailSize || tail.substr(0, kTailStart.size()) != kTailStart ||
      tail.substr(kTailStart.size() + kXxh3Digits) != kTailEnd) {
    return Damaged(name, "checksum at " + std::to_string(tail_at) +
                             ": the last member is not a checksum; the file is cut or damaged");
  }
  const std::string expected(tail.substr(kTailStart.size(), kXxh3Digits));
  const std::string found = ToHex(Xxh3(text.substr(0, tail_at)));
  if (expected == found) return absl::OkStatus();
  return Damaged(name, "checksum at " + std::to_string(tail_at + kTailStart.size()) +
                           ": expected " + expected + ", found " + found);
}

absl::Status CheckVersion(const Json& json, std::string_view name) {
  std::uint64_t version = 0;
  ObjectReader in(&json, "");
  in.Number("format_version", version);
  if (!in.ok()) return Damaged(name, in.Finish());
  if (version == kFormatVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(std::string(name) + ": format version " +
                                       std::to_string(version) + ", this program reads version " +
                                       std::to_string(kFormatVersion) +
                                       "; rebuild with rag-index build");
}

}  // namespace

std::string EncodeManifest(const Manifest& manifest) {
  const Json json = {{"format_version", manifest.format_version},
                     {"generation", manifest.generation},
                     {"created", manifest.created},
                     {"program", manifest.program},
                     {"corpus_root", manifest.corpus_root},
                     {"build", ToJson(manifest.build)},
                     {"query", ToJson(manifest.query)},
                     {"counts", ToJson(manifest.counts)},
                     {"fit", ToJson(manifest.fit)},
                     {"family_keys", ToJson(manifest.family_keys)},
                     {"family_digests", ToJson(manifest.family_digests)},
                     {"files", ToJson(manifest.files)}};
  // A path that is not UTF-8 must not stop a build: the corpus root is only a hint.
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n";
  const std::string checksum = ToHex(Xxh3(text));
  text.append(kTailStart).append(checksum).append(kTailEnd);
  return text;
}

absl::StatusOr<Manifest> DecodeManifest(std::string_view text, std::string_view name) {
  RAG_RETURN_IF_ERROR(CheckChecksum(text, name));
  StructureCheck check;
  const Json json = Json::parse(text, std::ref(check), false);
  if (!check.problem().empty()) return Damaged(name, check.problem());
  if (json.is_discarded()) return Damaged(name, "is not JSON");
  RAG_RETURN_IF_ERROR(CheckVersion(json, name));
  Manifest manifest;
  const std::string error = FromJson(json, manifest);
  if (!error.empty()) return Damaged(name, error);
  return manifest;
}

}  // namespace rag::formats
