import Foundation
import SignetPinning
import Testing

@testable import SignetPinFormats

/// Files of many pins. With `SIGNET_SOAK` (`make soak`) a host has 95,000 pins, for which work that
/// grows with the square of their number would take minutes.
@Suite struct PinConversionScaleTests {
    private static let count =
        ProcessInfo.processInfo.environment["SIGNET_SOAK"] == nil ? 10_000 : 95_000

    private static func pins(_ numbers: Range<Int>) throws -> [Pin] {
        try numbers.map { number in
            try Pin(
                bytes: (0..<32).map { UInt8(truncatingIfNeeded: $0 < 4 ? number >> ($0 * 8) : 7) })
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: PinFormat.all, [false, true])
    func aHostOfManyPinsIsConvertedAndReadBack(_ format: PinFormat, binary: Bool) throws {
        guard !binary || format == .trustKit else { return }
        let pins = try Self.pins(0..<Self.count)
        let policy = try PinPolicy(rules: [PinRule(host: "api.example.com", pins: pins)])
        let written = try PinConversion.write(policy, as: format, binary: binary)
        let host = format.namesHosts ? nil : "api.example.com"
        let read = try PinConversion.read(written.bytes, as: format, host: host)
        #expect(read.policy.rules.map(\.pins) == [pins])
    }

    @Test(.timeLimit(.minutes(5)))
    func tooManyPinsByAPatternAreRefused() throws {
        func add(_ host: String, _ pin: Pin) -> String { ".add(\"\(host)\", \"\(pin.text)\")\n" }
        let pins = try Self.pins(0..<2500)
        var code = pins.map { add("**.example.com", $0) }.joined()
        for (index, pin) in pins.prefix(500).enumerated() {
            code += add("host\(index).example.com", pin)
        }
        let error = #expect(throws: PinError.self) {
            try PinConversion.read(Array(code.utf8), as: .okHTTP)
        }
        #expect(error?.code == .malformedInput)
        #expect(error?.message.contains("more than 1000000 pins") == true)
    }

    @Test func aLongStringThatIsNamedOftenIsRefused() {
        func big(_ number: Int) -> [UInt8] {
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        let count = 1 << 20
        let list: [UInt8] = [0xAF, 0x10, 200] + [UInt8](repeating: 1, count: 200)
        let text: [UInt8] = [0x5F, 0x12] + big(count) + [UInt8](repeating: 0x61, count: count)
        let table = 8 + list.count + text.count
        var bytes = Array("bplist00".utf8) + list + text + big(8) + big(8 + list.count)
        bytes += [0, 0, 0, 0, 0, 0, 4, 1] + big(0) + big(2) + big(0) + big(0) + big(0) + big(table)
        let error = #expect(throws: PinError.self) {
            try PinConversion.read(bytes, as: .trustKit)
        }
        #expect(error?.message.contains("names long strings too often") == true)
    }
}
