import Foundation
import TestSupport

/// Validates documents by the HAR schema of `shared/vectors/har/schema`: the part of JSON Schema
/// that its files use.
struct HARSchema {
    /// The folder with the files of the vectors; nil if it is absent.
    static let vectors = SharedVectors.directory?.appending(path: "har")

    private var files: [String: [String: Any]] = [:]

    init() throws {
        guard let folder = Self.vectors?.appending(path: "schema") else {
            throw TestSupportError("no HAR schema")
        }
        for url in try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        {
            let value = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
            files[url.lastPathComponent] = value as? [String: Any]
        }
    }

    /// Returns the places of a document that break the schema.
    func problems(in har: [UInt8]) throws -> [String] {
        let document = try JSONSerialization.jsonObject(with: Data(har))
        var problems: [String] = []
        check(document, by: files["har.json"] ?? [:], at: "$", into: &problems)
        return problems
    }

    private func check(
        _ value: Any, by schema: [String: Any], at place: String, into problems: inout [String]
    ) {
        if let reference = schema["$ref"] as? String {
            let file = reference.replacingOccurrences(of: "#", with: "")
            return check(value, by: files[file] ?? [:], at: place, into: &problems)
        }
        let types = (schema["type"] as? [String]) ?? (schema["type"] as? String).map { [$0] } ?? []
        if !types.isEmpty, !types.contains(where: { Self.isOfType($0, value) }) {
            return problems.append("\(place): expected \(types)")
        }
        if let choices = schema["oneOf"] as? [[String: Any]] {
            let matching = choices.filter { choice in
                var found: [String] = []
                check(value, by: choice, at: place, into: &found)
                return found.isEmpty
            }
            if matching.count != 1 { problems.append("\(place): \(matching.count) of oneOf") }
        }
        if let text = value as? String { check(text, by: schema, at: place, into: &problems) }
        if let object = value as? [String: Any] {
            for name in schema["required"] as? [String] ?? [] where object[name] == nil {
                problems.append("\(place).\(name): missing")
            }
            for (name, rule) in schema["properties"] as? [String: [String: Any]] ?? [:] {
                guard let member = object[name] else { continue }
                check(member, by: rule, at: "\(place).\(name)", into: &problems)
            }
        }
        if let list = value as? [Any], let rule = schema["items"] as? [String: Any] {
            for (index, item) in list.enumerated() {
                check(item, by: rule, at: "\(place)[\(index)]", into: &problems)
            }
        }
    }

    private func check(
        _ text: String, by schema: [String: Any], at place: String, into problems: inout [String]
    ) {
        if let pattern = schema["pattern"] as? String,
            text.range(of: pattern, options: .regularExpression) == nil
        {
            problems.append("\(place): pattern")
        }
        switch schema["format"] as? String {
        case "uri" where URL(string: text)?.scheme == nil: problems.append("\(place): no URI")
        case "ipv4" where text.split(separator: ".").count != 4: problems.append("\(place): ipv4")
        case "ipv6" where !text.contains(":"): problems.append("\(place): ipv6")
        default: break
        }
    }

    private static func isOfType(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "null": value is NSNull
        case "boolean":
            (value as? NSNumber).map { "\(Swift.type(of: $0))".contains("Bool") } ?? false
        case "number": value is NSNumber
        case "integer":
            (value as? NSNumber).map { $0.doubleValue == $0.doubleValue.rounded() } ?? false
        default: false
        }
    }
}
