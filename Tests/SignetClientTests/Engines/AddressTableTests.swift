import TestSupport
import Testing

@testable import SignetClient

/// Which address is used, by measurements alone.
@Suite struct AddressTableTests {
    private let first: ServiceAddress
    private let second: ServiceAddress
    private let third: ServiceAddress
    private let foreign: ServiceAddress

    init() throws {
        first = try ServiceAddress(parsing: "192.0.2.1")
        second = try ServiceAddress(parsing: "192.0.2.2")
        third = try ServiceAddress(parsing: "192.0.2.3")
        foreign = try ServiceAddress(parsing: "198.51.100.1")
    }

    private func table() -> AddressTable { AddressTable([first, second, third]) }

    private static func good(_ milliseconds: Double) -> AddressTable.Outcome {
        .good(.microseconds(Int64(milliseconds * 1000)))
    }

    @Test(.features("003-35"))
    func theFastestIsUsed() {
        var table = table()
        #expect(table.used == nil && table.ways.isEmpty)
        table.note(Self.good(50), of: first)
        #expect(table.used == first)
        table.note(Self.good(10), of: second)
        #expect(table.used == second)
        table.note(Self.good(200), of: third)
        #expect(table.used == second)
        #expect(table.ways.map(\.address) == [second, first, third])
    }

    @Test func whatFailedOrIsRefusedIsNotUsed() {
        var table = table()
        table.note(.refused, of: first)
        table.note(.failed, of: second)
        #expect(table.used == nil && table.ways.isEmpty && table.hasFailures)
        table.note(Self.good(900), of: third)
        #expect(table.used == third && table.ways.map(\.address) == [third])
        #expect(table.report.map(\.state) == [.refused, .failed, .used])
        // One that another list has.
        table.note(Self.good(1), of: foreign)
        #expect(table.used == third)
    }

    /// A dead one is replaced at once, and comes back only if it is much faster.
    @Test func oneThatFailsIsReplaced() {
        var table = table()
        table.note(Self.good(10), of: first)
        table.note(Self.good(12), of: second)
        table.note(.failed, of: first)
        #expect(table.used == second && table.ways.map(\.address) == [second])
        table.note(Self.good(10), of: first)
        #expect(table.used == second)
        table.note(.refused, of: second)
        #expect(table.used == first && !table.report.contains { $0.state == .good })
    }

    /// Two whose times differ by a fifth at most.
    @Test func twoThatAreAlikeDoNotFlap() {
        var table = AddressTable([first, second])
        var generator = SplitMix(seed: 39)
        var (changes, used) = (0, ServiceAddress?.none)
        for _ in 0..<1_000 {
            for address in [first, second] {
                table.note(
                    Self.good(Double.random(in: 10...12, using: &generator)), of: address)
            }
            if used != nil, table.used != used { changes += 1 }
            used = table.used
        }
        #expect(changes == 0)
        // One that is twice as fast for some time replaces it.
        let other = used == first ? second : first
        for _ in 0..<3 { table.note(Self.good(5), of: other) }
        #expect(table.used == other)
    }

    @Test func aConnectionMayTakeThreeTimesWhatItTook() {
        var table = table()
        table.note(Self.good(10), of: first)
        table.note(Self.good(200), of: second)
        #expect(table.ways.map(\.limit) == [.milliseconds(250), .milliseconds(600)])
    }

    /// In another network the times are unknown; the address stays until others are measured.
    @Test func anotherNetworkForgetsTheTimes() {
        var table = table()
        table.note(Self.good(10), of: first)
        table.note(Self.good(50), of: second)
        table.forget()
        #expect(table.used == first && !table.hasFailures)
        #expect(table.ways.map(\.address) == [first])
        table.note(Self.good(20), of: second)
        #expect(table.used == first && table.ways.map(\.address) == [first, second])
        table.note(Self.good(90), of: first)
        #expect(table.used == second)
    }

    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("192.0.2.1:8443", "192.0.2.1:8443"),
            ("2001:DB8::1", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:443", "[2001:db8::1]:443"),
        ])
    func addressesAreRead(_ text: String, _ canonical: String) throws {
        let address = try ServiceAddress(parsing: text)
        #expect(address.description == canonical)
        #expect(try ServiceAddress(parsing: address.description) == address)
    }

    @Test(
        arguments: [
            "", "example.com", "localhost:443", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:x",
            "user@192.0.2.1", "192.0.2.256", "2001:db8::1::2", "[2001:db8::1", "https://192.0.2.1",
            "192.0.2.1/path", " 192.0.2.1",
        ])
    func whatIsNoAddressIsRefused(_ text: String) {
        let error = #expect(throws: ClientError.self) { try ServiceAddress(parsing: text) }
        #expect(error?.code == .invalidOptions)
    }

    @Test func aListHasALimit() throws {
        let texts = (0..<64).map { "192.0.2.\($0)" }
        #expect(try ServiceAddress.list(texts).count == 64)
        #expect(try ServiceAddress.list(["192.0.2.1", "192.0.2.1"]).count == 1)
        #expect(throws: ClientError.self) { try ServiceAddress.list(texts + ["192.0.2.64"]) }
    }
}
