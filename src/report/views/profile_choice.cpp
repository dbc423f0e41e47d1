#include "report/views/profile_choice.hpp"

#include <algorithm>
#include <cctype>

#include "base/spelling.hpp"

namespace sonde {
namespace {

bool is_recorded(RunTraces traces) {
  return std::any_of(traces.begin(), traces.end(),
                     [](const NamedTrace& named) { return named.trace.meta().format == "sonde"; });
}

std::string_view source_word(ProfileSource source) {
  switch (source) {
    case ProfileSource::Counted:
      return "calls";
    case ProfileSource::Samples:
      return "samples";
    case ProfileSource::Slices:
      return "slices";
    case ProfileSource::None:
      break;
  }
  return "";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::vector<std::string> cost_names(const FunctionProfile& profile) {
  std::vector<std::string> out;
  for (const ProfileCost& cost : profile.costs) out.push_back(cost.name);
  return out;
}

// Several costs are several tables: of a recorded run the first one tells most.
bool takes_first_cost(RunTraces traces, const ReportRequest& request) {
  return request.weight.empty() && !request.for_programs() && is_recorded(traces);
}

Error wrong(std::string reason, std::string hint) {
  return {ErrorCode::UsageError, std::move(reason), {}, {}, std::move(hint)};
}

Result<bool> check(RunTraces traces, const ReportRequest& request, ProfileNeed need) {
  const std::vector<ProfileSource> sources = profile_sources(traces, need);
  const ProfileSource wanted = wanted_source(request);
  if (wanted != ProfileSource::None &&
      std::find(sources.begin(), sources.end(), wanted) == sources.end()) {
    std::vector<std::string> words;
    for (const ProfileSource source : sources) words.emplace_back(source_word(source));
    return wrong("there are no " + request.from + " in what was read",
                 words.empty() ? "" : "it has " + joined(words));
  }
  if (request.weight.empty()) return true;
  const FunctionProfile profile = function_profile(traces, nullptr, {need, wanted});
  const std::vector<std::string> names = cost_names(profile);
  if (profile.costs.empty() ||
      std::find(names.begin(), names.end(), request.weight) != names.end()) {
    return true;
  }
  return wrong("there is no weight '" + request.weight + "' in what was read",
               "it has " + joined(names));
}

}  // namespace

bool row_matches(const ReportRequest& request, std::initializer_list<std::string_view> texts) {
  if (request.filter.empty()) return true;
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
    return std::search(text.begin(), text.end(), request.filter.begin(), request.filter.end(),
                       same) != text.end();
  });
}

ProfileSource wanted_source(const ReportRequest& request) {
  if (request.from == "calls") return ProfileSource::Counted;
  if (request.from == "samples") return ProfileSource::Samples;
  if (request.from == "slices") return ProfileSource::Slices;
  return ProfileSource::None;
}

FunctionProfile requested_profile(RunTraces traces, const ReportRequest& request, ProfileNeed need,
                                  std::size_t* left_out) {
  FunctionProfile profile = function_profile(traces, left_out, {need, wanted_source(request)});
  for (std::size_t i = 0; i < profile.costs.size(); ++i) {
    if (profile.costs[i].name == request.weight) return with_one_cost(std::move(profile), i);
  }
  if (takes_first_cost(traces, request)) return with_one_cost(std::move(profile), 0);
  return profile;
}

void note_choice(RunTraces traces, const ReportRequest& request, ProfileNeed need,
                 const FunctionProfile& profile, Block& block) {
  if (!is_recorded(traces)) return;
  std::vector<std::string> others;
  for (const ProfileSource source : profile_sources(traces, need)) {
    if (source != profile.source) others.emplace_back(source_word(source));
  }
  std::string note;
  if (profile.source == ProfileSource::Counted) {
    note = need == ProfileNeed::Lines ? "Every line is counted" : "Every call is counted";
  }
  if (profile.source == ProfileSource::Samples) note = "Estimated from samples";
  if (profile.source == ProfileSource::Slices) note = "From the slices of the timeline";
  if (note.empty()) return;
  if (takes_first_cost(traces, request)) {
    const FunctionProfile all = function_profile(traces, nullptr, {need, profile.source});
    if (all.costs.size() > 1) {
      std::vector<std::string> names = cost_names(all);
      names.erase(names.begin());
      note += ", by " + all.costs.front().name + " time (--weight " + joined(names) + ")";
    }
  }
  if (!others.empty()) note += "; also recorded: --from " + joined(others);
  const bool several = note.find("--") != std::string::npos;
  if (several || profile.source == ProfileSource::Samples) block.notes.push_back(note);
}

void note_weights(RunTraces traces, const ReportRequest& request, Block& block) {
  if (!takes_first_cost(traces, request)) return;
  const FunctionProfile all =
      function_profile(traces, nullptr, {ProfileNeed::Functions, ProfileSource::Samples});
  std::vector<std::string> names = cost_names(all);
  if (names.size() < 2) return;
  const std::string first = names.front();
  names.erase(names.begin());
  block.notes.push_back("By " + first + " time (--weight " + joined(names) + ")");
}

Result<bool> check_functions(RunTraces traces, const ReportRequest& request) {
  return check(traces, request, ProfileNeed::Functions);
}

Result<bool> check_lines(RunTraces traces, const ReportRequest& request) {
  return check(traces, request, ProfileNeed::Lines);
}

}  // namespace sonde
