/// Texts for the people who use a program, one for each code of an error.
///
/// They say what the person can do, and whose the fault is: a server that is slow or refuses isn't
/// called a network error. The table is the program's to replace, whole or in part, such as with
/// texts of other languages.
///
/// ```swift
/// var texts = ErrorTexts.english
/// texts[.offline] = "You're offline. Your order is kept."
///
/// func show(_ error: ClientError) { print(texts.text(for: error)) }
/// ```
public struct ErrorTexts: Sendable {
    private var texts: [ClientError.Code: String]
    private var others: [ClientError.Kind: String]

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - texts: The texts of codes.
    ///   - noResponse: The text for the kind's other codes.
    ///   - refused: The text for the kind's other codes.
    ///   - malformed: The text for the kind's other codes.
    ///   - local: The text for the kind's other codes.
    public init(
        _ texts: [ClientError.Code: String],
        noResponse: String, refused: String, malformed: String, local: String
    ) {
        self.texts = texts
        others = [
            .noResponse: noResponse, .refused: refused, .malformed: malformed, .local: local,
        ]
    }

    /// The text of a code: its own, or that of its kind.
    public subscript(code: ClientError.Code) -> String {
        get { texts[code] ?? others[code.kind] ?? "" }
        set { texts[code] = newValue }
    }

    /// Returns the text of an error. A status that tells of missing or wrong credentials, of too
    /// many requests, or of a server's failure has a text of its own.
    public func text(for error: ClientError) -> String {
        guard error.code == .httpStatus, let status = error.status else { return self[error.code] }
        return statuses.first { $0.statuses.contains(status) }?.text ?? self[error.code]
    }

    /// The texts of statuses, for errors with the code `http-status`; the first range counts.
    public var statuses: [(statuses: ClosedRange<Int>, text: String)] = []

    /// The texts in English.
    public static let english: ErrorTexts = {
        var texts = ErrorTexts(
            [
                .offline: "This device isn't connected to a network.",
                .unresolvedHost: "The server's address couldn't be found.",
                .connect: "The server doesn't accept connections at the moment.",
                .timeout: "The server took too long to respond. Please try later.",
                .cutOff: "The connection to the server broke. Please retry.",
                .proxy: "The network's proxy can't be reached.",
                .proxyRefused: "The network's proxy doesn't allow this connection.",
                .proxyAuthentication: "The network's proxy asks for a sign-in.",
                .tls: "The connection to the server isn't secure, so it wasn't used.",
                .pinMismatch: "The server couldn't prove who it is, so it wasn't used.",
                .unlistedHost: "This program may not connect to that server.",
                .policyExpired: "This program is too old to connect. Please update it.",
                .cleartextToPinnedHost: "The connection isn't encrypted, so it wasn't used.",
                .rpcError: "The server couldn't do this.",
                .httpStatus: "The server couldn't do this.",
                .businessCode: "The server couldn't do this.",
                .responseTooLarge: "The server sent more than expected.",
                .wrongDigest: "The file arrived damaged. Please retry.",
                .cancelled: "This was cancelled.",
                .replaced: "A newer request took its place.",
                .alreadyRunning: "This is being done already.",
                .notRunning: "The program is closing.",
                .unwritableFile: "The file couldn't be saved.",
                .fileBusy: "The file is being used.",
            ],
            noResponse: "There is no connection to the server.",
            refused: "The server refused this.",
            malformed: "The server sent something that this program doesn't understand.",
            local: "Something went wrong in this program.")
        texts.statuses = [
            (401...401, "Please sign in."), (403...403, "You aren't allowed to do this."),
            (404...404, "This doesn't exist any longer."),
            (429...429, "That was too often. Please wait a little."),
            (500...599, "The server has a problem. Please try later."),
        ]
        return texts
    }()
}
