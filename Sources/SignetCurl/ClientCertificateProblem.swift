/// A server's reason to refuse a client's certificate, which an alert tells (RFC 8446, section
/// 6.2).
enum ClientCertificateProblem {
    case missing
    case expired
    case revoked
    case unknownCA
    case refused

    /// Reads the alert that ended a transfer's connection; `nil` for another reason.
    init?(of transfer: Transfer) {
        switch transfer.alert {
        case 44: self = .revoked
        case 45: self = .expired
        case 48: self = .unknownCA
        case 116: self = .missing
        // 40 is "handshake failure", by which TLS 1.2 says that a certificate is missing.
        case 40, 42, 43, 46, 49: self = .refused
        default: return nil
        }
        // The alert is for what the server got, which may have been nothing.
        guard transfer.wasAskedForCertificate else { return nil }
    }

    /// Returns the message.
    ///
    /// - Parameter subject: That of the call's certificate; `nil` if the call has none.
    func text(for subject: String?) -> String {
        guard let subject, self != .missing else {
            return "requires a client certificate, and "
                + (subject == nil
                    ? "the call has none: expected one, by clientCertificate of the service or the call,"
                        + " or --client-cert"
                    : "got none: the server names no CA or algorithm that the call's one fits")
        }
        let name = "the client certificate \"\(subject)\""
        return switch self {
        case .missing, .refused:
            "refuses \(name): expected one of a CA and for a use that it accepts"
        case .expired: "refuses \(name), because it has expired: renew it, and compare both clocks"
        case .revoked: "refuses \(name), because its CA has revoked it: ask for a new one"
        case .unknownCA:
            "refuses \(name), because it doesn't know its CA: expected one of a CA that it trusts, with"
                + " the certificates between them in the same file"
        }
    }
}
