import SignetPinFormats
import SignetPinning
import Testing

/// Error messages about a file that another program wrote.
@Suite struct PinMessageTests {
    private static let pins =
        #"["sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="]"#

    /// Whether a text could steer a terminal or hide a part of itself.
    private func canSteer(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }

    @Test(arguments: [
        #"{"\u001b]0;t\u0007":1}"#, #"{"hosts":{},"\u001b[2J":1}"#, #"{"hosts":{"a\u007fb":{}}}"#,
        #"{"hosts":{"\u202ea":{"pins":\#(pins)}}}"#,
        #"{"hosts":{"a":{"pins":\#(pins),"\u009b":1}}}"#,
        #"{"hosts":{"a":{"pins":\#(pins),"mode":"\u001b"}}}"#,
        #"{"hosts":{"a":{"pins":["\u001b"]}}}"#,
    ])
    func aRefusedPolicysControlCharactersAreEscaped(_ text: String) throws {
        let error = #expect(throws: PinError.self) {
            try PinPolicy(parsing: Array(text.utf8))
        }
        let message = try #require(error?.message)
        #expect(!message.isEmpty && !canSteer(message), "\(message.debugDescription)")
        do throws(PinError) {
            for finding in try PinLint.findings(of: Array(text.utf8), now: 0) {
                #expect(!canSteer(finding.message), "\(finding.message.debugDescription)")
            }
        } catch {
            #expect(!canSteer(error.message), "\(error.message.debugDescription)")
        }
    }

    @Test(arguments: [
        (
            "android",
            "<network-security-config><\u{85}a/><domain-config/></network-security-config>"
        ),
        ("android", "<network-security-config></b\u{202E}></network-security-config>"),
        ("trustkit", "<plist><\u{9B}/></plist>"),
    ])
    func aRefusedFilesControlCharactersAreEscaped(_ format: String, _ text: String) throws {
        let format = try #require(PinFormat(name: format))
        let error = #expect(throws: PinError.self) {
            try PinConversion.read(Array(text.utf8), as: format)
        }
        let message = try #require(error?.message)
        #expect(!message.isEmpty && !canSteer(message), "\(message.debugDescription)")
    }

    @Test func aNotesControlCharactersAreEscaped() throws {
        let text =
            "<network-security-config><\u{9B}a/><domain-config><domain>a</domain></domain-config>"
            + "</network-security-config>"
        let notes = try PinConversion.read(Array(text.utf8), as: .android).notes
        #expect(notes.contains { $0.contains("u{9b}a") })
        #expect(!notes.contains(where: canSteer))
    }

    @Test func aRefusedDateOfManyMarksIsCutShort() throws {
        let text = "x" + String(repeating: "\u{301}", count: 10_000)
        let document = #"{"hosts":{"a":{"pins":\#(Self.pins),"expires":"\#(text)"}}}"#
        let error = #expect(throws: PinError.self) {
            try PinPolicy(parsing: Array(document.utf8))
        }
        #expect(try #require(error?.message).utf8.count < 1000)
    }
}
