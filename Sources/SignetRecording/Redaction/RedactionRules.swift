import SignetBase
import SignetJSON
public import SignetVault

/// The rules by which a recording's secrets are recognised, before anything is written.
///
/// Built in are the rules by which `vault init` and the client's own redaction recognise a secret:
/// the names of fields, members and parameters, the forms of values, credentials, signatures,
/// cookies in both directions, and user info of URLs. A program adds names and values of its own.
///
/// ```swift
/// var rules = RedactionRules()
/// rules.fields.insert("X-Customer")
/// rules.members.insert("iban")
/// ```
///
/// A short password under an innocent name looks like any other word: name it here, or give the
/// configuration that has it.
public struct RedactionRules: Sendable, CustomStringConvertible, CustomReflectable {
    /// More names of fields whose values are secret. Letter case doesn't count.
    public var fields: Set<String> = []
    /// More names of members of JSON and of parameters of queries and forms whose values are
    /// secret. Letter case doesn't count.
    public var members: Set<String> = []
    private(set) var secrets: [[UInt8]] = []

    /// The built-in rules alone.
    public init() {}

    /// Adds every value that a configuration's schema calls secret. It is found in any place of a
    /// message, also in base64, in hexadecimal, percent-encoded and in a JSON string.
    public mutating func addSecrets(of configuration: GlobalConfiguration) {
        let values = configuration.values
        for rule in configuration.schema.rules where !rule.isPublic {
            guard let value = values[rule.name] else { continue }
            for leaf in SecretLeaves.of(value) { add(secret: leaf) }
        }
    }

    /// Adds one value that is secret wherever it occurs.
    ///
    /// A value of fewer than four bytes is a secret only as a whole field, member or parameter,
    /// because it would occur anywhere.
    public mutating func add(secret bytes: [UInt8]) {
        guard !bytes.isEmpty, !secrets.contains(bytes) else { return }
        secrets.append(bytes)
    }

    /// The numbers of names, never a value.
    public var description: String {
        "RedactionRules(\(fields.count) fields, \(members.count) members, \(secrets.count) secrets)"
    }

    /// A mirror without values.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
