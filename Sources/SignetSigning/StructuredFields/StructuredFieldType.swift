import SignetBase

/// The type of a structured field (RFC 9651, section 3).
public enum StructuredFieldType: String, Sendable, Hashable, CaseIterable {
    /// Named members.
    case dictionary
    /// A sequence of items or inner lists.
    case list
    /// A single value.
    case item
}

/// The types of fields that may be covered with `;sf`: those of IANA's field name registry, and
/// those that an application adds.
public struct StructuredFieldTypes: Sendable, Hashable {
    private var own: [[UInt8]: StructuredFieldType] = [:]

    /// Creates a value with the registered types only.
    public init() {}

    /// The type of a field, or nil if it is unknown. The case of the name doesn't matter. A type
    /// set here takes precedence over the registry.
    public subscript(name: String) -> StructuredFieldType? {
        get { self[bytes: name.utf8.map(\.lowercased)] }
        set { own[name.utf8.map(\.lowercased)] = newValue }
    }

    subscript(bytes name: [UInt8]) -> StructuredFieldType? { own[name] ?? Self.registered[name] }

    /// IANA's registry "Hypertext Transfer Protocol (HTTP) Field Name Registry", column "Structured
    /// Type".
    private static let registered: [[UInt8]: StructuredFieldType] = {
        var types: [[UInt8]: StructuredFieldType] = [:]
        for (type, names) in [
            (
                StructuredFieldType.dictionary,
                """
                accept-signature cdn-cache-control content-digest integrity-policy \
                integrity-policy-report-only no-vary-search permissions-policy priority \
                reporting-endpoints repr-digest sec-shared-storage-data-origin signature \
                signature-input unencoded-digest use-as-dictionary want-content-digest \
                want-repr-digest want-unencoded-digest
                """
            ),
            (
                .list,
                """
                accept-ch accept-query cache-group-invalidation cache-groups cache-status \
                client-cert-chain critical-ch proxy-status sec-ch-ua sec-ch-ua-form-factors \
                sec-ch-ua-full-version-list speculation-rules supports-loading-mode
                """
            ),
            (
                .item,
                """
                available-dictionary capsule-protocol client-cert concealed-auth-export \
                cross-origin-embedder-policy cross-origin-embedder-policy-report-only \
                cross-origin-opener-policy cross-origin-opener-policy-report-only deprecation \
                dictionary-id incremental origin-agent-cluster sec-ch-ua-arch sec-ch-ua-bitness \
                sec-ch-ua-mobile sec-ch-ua-model sec-ch-ua-platform sec-ch-ua-platform-version \
                sec-ch-ua-wow64 sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user \
                sec-gpc sec-purpose
                """
            ),
        ] {
            for name in names.utf8.split(separator: ASCII.space) { types[Array(name)] = type }
        }
        return types
    }()
}
