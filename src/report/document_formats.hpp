#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"

namespace sonde {

// The writers behind render_documents(), one file each.
std::string documents_text(const std::vector<Document>& documents, const RenderOptions& options);
std::string documents_markdown(const std::vector<Document>& documents);
std::string documents_csv(const std::vector<Document>& documents);
std::string documents_json(const std::vector<Document>& documents);

// The sentences of all blocks.
std::vector<std::string> document_notes(const Document& document);

}  // namespace sonde
