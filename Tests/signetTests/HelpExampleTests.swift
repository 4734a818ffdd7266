import Foundation
import SignetJSON
import TestSupport
import Testing

/// Every help text has an example, and every example of a help text works.
@Suite struct HelpExampleTests {
    /// A command as the parser describes it.
    private struct Command {
        let words: String
        let examples: [String]

        /// The command and all below it that help shows.
        static func all(in value: JSONValue) -> [Command] {
            guard value["shouldDisplay"]?.bool != false, let name = value["commandName"]?.string,
                name != "help"
            else { return [] }
            let parents = value["superCommands"]?.array?.compactMap(\.string) ?? []
            let command = Command(
                words: (parents + [name]).joined(separator: " "),
                examples: examples(in: value["discussion"]?.string ?? ""))
            return [command] + (value["subcommands"]?.array ?? []).flatMap(all)
        }

        /// The commands after `EXAMPLES:`, each with the lines that continue it.
        private static func examples(in discussion: String) -> [String] {
            var examples: [String] = []
            var isInside = false
            var continues = false
            for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
                let text = line.trimmingCharacters(in: .whitespaces)
                if text == "EXAMPLE:" || text == "EXAMPLES:" {
                    isInside = true
                    continue
                }
                guard isInside, !text.isEmpty else { continue }
                if continues {
                    examples[examples.count - 1] += "\n" + text
                } else {
                    examples.append(text)
                }
                continues = text.hasSuffix("\\")
            }
            return examples
        }
    }

    private func commands() async throws -> [Command] {
        let described = try await SignetTool.run(["--experimental-dump-help"])
        let command = try #require(try JSONValue(parsing: described.stdout)["command"])
        return Command.all(in: command)
    }

    @Test func everyHelpShowsItsExamples() async throws {
        /// The words of a text, however its lines are broken.
        func words(_ text: String) -> String {
            text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        }
        let commands = try await commands()
        #expect(commands.count > 30)
        let folder = try TemporaryDirectory()
        #expect(try await SignetTool.run(["manual", folder.url.path]).exit == 0)
        for command in commands {
            #expect(!command.examples.isEmpty, "\(command.words) --help has no example")
            let help = try await SignetTool.run(
                command.words.split(separator: " ").dropFirst().map { String($0) } + ["--help"])
            #expect(help.exit == 0)
            let page = String(
                decoding: try folder.read("\(command.words.replacing(" ", with: "-")).1"),
                as: UTF8.self
            ).replacing(#"\-"#, with: "-").replacing(#"\(aq"#, with: "'")
                .replacing(#"\(ga"#, with: "`").replacing(#"\(ti"#, with: "~")
                .replacing(#"\(ha"#, with: "^").replacing(#"\e"#, with: #"\"#)
            for example in command.examples {
                #expect(words(page).contains(words(example)), "\(page)")
                #expect(words(help.text).contains(words(example)), "\(help.text)")
            }
        }
    }

    @Test func everyExampleWorks() async throws {
        let place = try await ExamplePlace()
        for command in try await commands() {
            for example in command.examples {
                let folder = try place.folder(isEmpty: example.contains("vault init"))
                if example.contains("signet inspect") {
                    // Without --html it serves the page until it is stopped (InspectToolTests).
                    guard example.contains("--html") else { continue }
                    try folder.write(
                        #"{"log":{"version":"1.2","creator":{"name":"a","version":"1"},"#
                            + #""entries":[]}}"#, to: "shop.har")
                }
                if example.contains("signet project") {
                    try folder.write(#"{"keys":"keys"}"#, to: "signet.json")
                }
                if example.contains("signet cache") {
                    // A call makes the folder, even one that gets no response.
                    _ = try await place.run(
                        #"printf 'GET / HTTP/1.1\nHost: localhost:1\n\n' |"#
                            + " signet send --plain-http --cache ~/.cache/shop", in: folder)
                }
                let output = try await place.run(
                    example.replacing("/usr/bin/shop", with: "./shop"), in: folder)
                // The plan's findings depend on the day, and there is no terminal to edit on.
                let isRight =
                    output.exit == 0 || (command.words == "signet pins plan" && output.exit == 1)
                    || command.words == "signet vault edit" && output.stderr.contains("a terminal")
                #expect(isRight, "\(example)\nexit \(output.exit): \(output.stderr)")
            }
        }
    }
}
