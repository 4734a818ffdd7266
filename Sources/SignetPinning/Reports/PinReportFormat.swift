import SignetBase
import SignetCrypto
import SignetJSON

/// A JSON format of pin reports for collectors.
public struct PinReportFormat: Sendable, Hashable {
    /// The program's identity for TrustKit's collectors.
    public struct App: Sendable, Hashable {
        /// The bundle identifier, such as `com.example.shop`.
        public var identifier: String
        /// The version, such as `1.4.2`.
        public var version: String
        /// The identifier of the installation.
        public var vendorID: String
        /// The operating system.
        public var platform: String
        /// The operating system's version.
        public var platformVersion: String

        /// Creates a program's identity.
        public init(
            identifier: String, version: String, vendorID: String = "N/A",
            platform: String = "LINUX", platformVersion: String = "N/A"
        ) {
            self.identifier = identifier
            self.version = version
            self.vendorID = vendorID
            self.platform = platform
            self.platformVersion = platformVersion
        }
    }

    private enum Value: Hashable {
        case rfc7469
        case trustKit(App)
    }

    private let value: Value

    /// The format of RFC 7469, section 3.
    public static let rfc7469 = PinReportFormat(value: .rfc7469)

    /// The format that TrustKit 3 sends (github.com/datatheorem/TrustKit, TSKPinFailureReport).
    public static func trustKit(_ app: App) -> PinReportFormat {
        PinReportFormat(value: .trustKit(app))
    }

    /// Returns a report in this format. The noted host is the name in the rule's pattern.
    ///
    /// - Returns: JSON in UTF-8; nil for a report without a rule or a chain, which the formats
    ///   can't express.
    public func body(of report: PinReport) -> [UInt8]? {
        guard let rule = report.rule, !report.chain.isEmpty else { return nil }
        var members: JSONObject = [
            "date-time": .string(UnixTime.rfc3339(report.date)),
            "hostname": .string(report.host.text), "port": .number(JSONNumber(report.port)),
            "noted-hostname": .string(rule.pattern.host.text),
            "include-subdomains": .bool(rule.includesSubdomains || rule.pattern.scope != .exact),
            "validated-certificate-chain": Self.pem(report.chain.map(\.der)),
            "known-pins": .array(rule.pins.map { .string("pin-sha256=\"\($0.base64)\"") }),
        ]
        switch value {
        case .rfc7469:
            members["served-certificate-chain"] = Self.pem(report.served)
            // For a rule without a date, the date of RFC 5280, section 4.1.2.5, that means no end.
            members["effective-expiration-date"] = .string(
                rule.expires.map { UnixTime.rfc3339($0.end) } ?? "9999-12-31T23:59:59Z")
        case .trustKit(let app):
            members["app-bundle-id"] = .string(app.identifier)
            members["app-version"] = .string(app.version)
            members["app-vendor-id"] = .string(app.vendorID)
            members["app-platform"] = .string(app.platform)
            members["app-platform-version"] = .string(app.platformVersion)
            members["trustkit-version"] = "3.0.0"
            members["enforce-pinning"] = .bool(report.isEnforced)
            // TSKTrustEvaluationFailedNoMatchingPin.
            members["validation-result"] = 1
            members["known-pins-expiration-date"] =
                rule.expires.map { .string($0.text) } ?? .null
        }
        return JSONValue.object(members).serialized()
    }

    private static func pem(_ chain: [[UInt8]]) -> JSONValue {
        .array(chain.map { .string(String(decoding: PEM.text(ofCertificate: $0), as: UTF8.self)) })
    }
}
