internal import SignetCrypto
internal import SignetJSON

/// The JSON that collectors of pin reports read.
public struct PinReportFormat: Sendable, Hashable {
    /// The program, as TrustKit's collectors tell programs apart.
    public struct App: Sendable, Hashable {
        /// Such as `com.example.shop`.
        public var identifier: String
        /// Such as `1.4.2`.
        public var version: String
        /// What tells one installation from another.
        public var vendorID: String
        /// The system.
        public var platform: String
        /// The system's version.
        public var platformVersion: String

        /// Describes a program.
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

    /// RFC 7469, section 3.
    public static let rfc7469 = PinReportFormat(value: .rfc7469)

    /// What TrustKit 3 sends (github.com/datatheorem/TrustKit, TSKPinFailureReport).
    public static func trustKit(_ app: App) -> PinReportFormat {
        PinReportFormat(value: .trustKit(app))
    }

    /// A report in this shape.
    ///
    /// Both shapes speak of a host that showed a chain; a pattern's name stands as the noted host.
    ///
    /// - Returns: JSON in UTF-8; nil for a report without a rule or a chain, which they cannot tell of.
    public func body(of report: PinReport) -> [UInt8]? {
        guard let rule = report.rule, !report.chain.isEmpty else { return nil }
        var members: JSONObject = [
            "date-time": .string(UnixTime.rfc3339(report.date)),
            "hostname": .string(report.host.text), "port": .number(JSONNumber(report.port)),
            "noted-hostname": .string(rule.pattern.host.text),
            "include-subdomains": .bool(
                rule.includesSubdomains || rule.pattern.scope != .exact),
            "validated-certificate-chain": Self.pem(report.chain.map(\.der)),
            "known-pins": .array(
                rule.pins.map { .string("pin-sha256=\"\($0.base64)\"") }),
        ]
        switch value {
        case .rfc7469:
            members["served-certificate-chain"] = Self.pem(report.served)
            // A rule without a date says what RFC 5280, section 4.1.2.5, writes for no end.
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
        .array(chain.map { .string(String(decoding: PEMText.of($0), as: UTF8.self)) })
    }
}
