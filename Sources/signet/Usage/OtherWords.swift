#if Tool
import SignetBase

/// The words that other tools use for our commands.
///
/// Sources: the commands of sops, age, pass, HashiCorp Vault, gpg, step and openssl.
enum OtherWords {
    /// The commands to type, by the group in which the word was typed; the tool itself is "".
    private static let commands: [String: [String: String]] = [
        "": [
            "encrypt": "signet vault init FILE, or signet vault set KEY@SOURCE for one value",
            "decrypt": "signet vault get KEY --show-secrets, or signet vault open for all values",
            "rotate": "signet vault rekey to seal a dump under another root",
            "updatekeys": "signet vault rekey to seal a dump under another root",
            "version": "signet --version",
            "generate": "signet keys new",
            "keygen": "signet keys new",
            "genkey": "signet keys new",
            "run": "signet exec -- COMMAND",
            "env": "signet exec -- COMMAND",
            "exec-env": "signet exec -- COMMAND",
            "exec-file": "signet exec --file KEY -- COMMAND",
            "curl": "signet call to make a call, or signet send for a raw message",
            "request": "signet call to make a call, or signet send for a raw message",
            "pin": "signet pins",
            "key": "signet keys",
            "scheme": "signet schemes",
            "trust": "signet project trust",
            "ls": "signet vault list",
            "cat": "signet vault get KEY",
        ],
        "vault": [
            "ls": "list", "show": "list or get KEY", "cat": "get KEY", "read": "get KEY",
            "print": "get KEY", "encrypt": "init FILE or seal", "decrypt": "open",
            "unseal": "open", "rotate": "rekey", "updatekeys": "rekey", "new": "init FILE",
            "create": "init FILE", "import": "init FILE", "put": "set KEY=VALUE",
            "write": "set KEY=VALUE", "add": "set --add KEY@SOURCE", "update": "set KEY=VALUE",
            "rm": "unset KEY", "remove": "unset KEY", "delete": "unset KEY",
            "upgrade": "rebind", "env": "export --format env",
        ],
        "keys": [
            "generate": "new", "gen": "new", "create": "new", "add": "new --append",
            "ls": "list", "show": "list", "export": "public", "rm": "remove",
            "delete": "remove", "disable": "revoke",
        ],
        "pins": [
            "get": "show", "fetch": "show", "print": "show", "generate": "show",
            "test": "check", "validate": "lint", "import": "convert",
        ],
        "schemes": ["ls": "list", "cat": "show", "validate": "lint", "check": "lint"],
        "project": ["allow": "trust", "deny": "untrust", "status": "show"],
    ]

    /// Returns what to type for a word in place of a command, or nil.
    ///
    /// - Parameters:
    ///   - word: The unknown word.
    ///   - path: The words before it, such as `signet` and `vault`.
    static func advice(for word: String, after path: [String]) -> String? {
        guard let command = commands[path.dropFirst().joined(separator: " ")]?[word] else {
            return nil
        }
        return path.count == 1 ? command : (path + [command]).joined(separator: " ")
    }
}
#endif
