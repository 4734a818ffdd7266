/// What the whole of a structured field is (RFC 9651, section 3).
public enum StructuredFieldType: String, Sendable, Hashable, CaseIterable {
    /// Members by name.
    case dictionary
    /// Items or inner lists in a row.
    case list
    /// One value.
    case item
}

/// The types of fields that may be covered in their strict spelling (`;sf`): those of IANA's field
/// name registry, and those that an application adds for its own.
public struct StructuredFieldTypes: Sendable, Hashable {
    private var own: [[UInt8]: StructuredFieldType] = [:]

    /// The registered types alone.
    public init() {}

    /// The type of a field, or nil where nobody has told it; the case of the name does not matter.
    /// What is set here goes before the registry.
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
