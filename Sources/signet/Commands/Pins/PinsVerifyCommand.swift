#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetSystem

/// `signet pins verify`: a signed policy, checked as a program checks it.
struct PinsVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify a signed pin policy, and print the policy in it.",
        discussion: """
            With --app-id, only documents that name this app are accepted; without it, only those \
            that name none.
            """,
        examples: [
            "signet pins verify --keys pin-keys --app-id com.example.shop pins.json"
        ])

    @Option(
        name: [.customShort("k"), .customLong("keys")],
        help: "The public keys: FILE, env:NAME, fd:N, credential:NAME or command:LINE.",
        completion: .file())
    var keys: String

    @OptionGroup var identity: IdentityOptions

    @Option(
        name: .customLong("state"),
        help: "The file that keeps the newest one; an older one is refused.",
        completion: .file())
    var state: String?

    @Option(help: ArgumentHelp("The app that the document must be for.", valueName: "ID"))
    var appID: String?

    @Option(name: .customLong("now"), help: "Unix time in seconds instead of the clock's.")
    var now: Int64?

    @Argument(
        help: ArgumentHelp("The document; - or nothing is standard input.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try ToolError.requireFile(state, subject: "the newest policy")
        if let now, !(0...253_402_300_799).contains(now) {
            throw ValidationError("--now is a time in Unix seconds")
        }
    }

    func run() throws {
        let now = self.now ?? UnixTime.now()
        let verifier = try PinUpdateVerifier(
            keys: identity.load(keys, notingOn: common.terminal), appID: appID)
        common.terminal.awaitInput("a signed pin policy", from: file)
        let bytes = try InputFile.read(file, limit: SignedPinPolicy.maximumByteCount + 1)
        let verified: VerifiedPinPolicy
        if let state {
            verified = try PinUpdateStore(path: state, verifier: verifier).accept(bytes, now: now)
        } else {
            verified = try verifier.verify(bytes, now: now)
        }
        let policy = verified.policy.serialized()
        var result: JSONObject = [
            "verified": true, "keyid": .string(verified.keyID),
            "serial": .number(JSONNumber(verified.serial)),
            "notBefore": .number(JSONNumber(verified.signed.notBefore)),
            "expires": .number(JSONNumber(verified.signed.expires)),
        ]
        if let appID { result["app"] = .string(appID) }
        result["policy"] = try JSONValue(parsing: policy)
        try common.terminal.result(result, text: policy)
    }
}
#endif
