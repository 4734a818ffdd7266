package import Foundation

/// A file of cases below a test target's `Vectors`: `{"source":…,"cases":[…]}`.
///
/// It is read with Foundation, so that SignetJSON doesn't check itself.
package struct VectorFile<Case: Decodable & Sendable>: Decodable, Sendable {
    let source: String
    let cases: [Case]

    /// The cases of a file; a file that is not there, empty or of another shape is an error, so
    /// that no test passes for want of cases.
    package static func load(_ name: String, in bundle: Bundle) throws -> [Case] {
        guard let url = bundle.url(forResource: "Vectors/\(name)", withExtension: "json") else {
            throw TestSupportError("no Vectors/\(name).json")
        }
        let cases = try JSONDecoder().decode(Self.self, from: Data(contentsOf: url)).cases
        guard !cases.isEmpty else { throw TestSupportError("no case in Vectors/\(name).json") }
        return cases
    }
}
