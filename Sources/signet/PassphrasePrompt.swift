#if Tool
import SignetCrypto
import SignetSystem

extension SecretPrompt {
    /// Reads a line from the terminal without echo.
    ///
    /// - Throws: `KeyError` with `noTerminal`, or `unreadable` if nothing or too much was typed.
    static func ask(_ question: String) throws(KeyError) -> SecretBytes {
        do throws(PromptFailure) {
            return try readLine(asking: question)
        } catch {
            throw KeyError(error.lacksTerminal ? .noTerminal : .unreadableKeys, error.message)
        }
    }
}

/// The source of a passphrase as the tool's options name it.
struct PassphraseOption {
    /// The word that asks on the terminal. A file of this name is `./prompt`.
    static let prompt = "prompt"

    /// The words of the option.
    let text: String
    /// The name of the secret in the question.
    var subject = "Passphrase"

    /// Reads the passphrase from its source, or asks for it.
    ///
    /// - Parameter twice: Whether a person types it twice, because a slip would lock them out.
    /// - Throws: `KeyError`; wrong usage for `-`; `passphrase-mismatch`.
    func load(askingTwice twice: Bool) throws -> Passphrase {
        if text == "-" {
            throw ToolError.usage(
                "\"-\" could be the terminal or standard input: prompt asks on the terminal, "
                    + "fd:0 reads standard input")
        }
        guard text == Self.prompt else { return try Passphrase(KeySource(text)) }
        let typed = try SecretPrompt.ask("\(subject): ")
        let passphrase = Passphrase(copying: typed.bytes)
        guard twice else { return passphrase }
        let again = try SecretPrompt.ask("\(subject), once more: ")
        guard constantTimeEqual(typed.bytes, again.bytes) else {
            throw ToolError(
                .passphraseMismatch, "the two passphrases are not the same")
        }
        return passphrase
    }
}
#endif
