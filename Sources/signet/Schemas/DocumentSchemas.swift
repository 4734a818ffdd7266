#if Tool
/// The JSON Schemas (draft 2020-12) of the documents that people write. `Documentation/schemas` has
/// the same texts as files.
enum DocumentSchemas {}
#endif
