import Foundation
import TestSupport
import Testing

@testable import SignetSystem

/// The kernel's messages as they are read, also malformed ones.
@Suite struct NetlinkMessageTests {
    private static func only(_ bytes: [UInt8]) -> NetlinkMessage? {
        let messages = NetlinkMessage.messages(in: bytes)
        return messages.count == 1 ? messages[0] : nil
    }

    @Test func aLinkIsRead() {
        let wanted = NetworkLink(index: 7, name: "eth0", flags: 0x1043)
        #expect(
            Self.only(NetlinkBytes.link(7, "eth0", flags: 0x1043)) == .link(wanted))
        var wireless = NetworkLink(
            index: 3, name: "wlp3s0", hardware: 801, flags: 0x41, kind: "vlan")
        wireless.isWireless = true
        #expect(
            Self.only(
                NetlinkBytes.link(
                    3, "wlp3s0", hardware: 801, virtual: "vlan", isWireless: true))
                == .link(wireless))
        #expect(Self.only(NetlinkBytes.link(9, "eth0", kind: 17)) == .linkRemoved(9))
        // A port that leaves its bridge is still a link.
        #expect(Self.only(NetlinkBytes.link(9, "eth0", family: 7, kind: 17)) == nil)
    }

    @Test func anAddressIsRead() {
        let fourth: [UInt8] = [192, 0, 2, 7]
        let sixth: [UInt8] = [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [7]
        #expect(
            Self.only(NetlinkBytes.address(fourth, on: 2))
                == .address(
                    NetworkAddress(family: 2, link: 2, bytes: fourth, isGlobal: true),
                    isRemoved: false))
        #expect(
            Self.only(NetlinkBytes.address(sixth, on: 2, scope: 253, kind: 21))
                == .address(
                    NetworkAddress(family: 10, link: 2, bytes: sixth, isGlobal: false),
                    isRemoved: true))
        // Tentative, and one that another machine has.
        for flags: UInt32 in [0x40, 0x08] {
            guard
                case .address(let address, _)? = Self.only(
                    NetlinkBytes.address(sixth, on: 2, flags: flags))
            else {
                Issue.record("no address")
                continue
            }
            #expect(!address.isGlobal)
        }
    }

    @Test func onlyDefaultRoutesAreRead() {
        let route = DefaultRoute(family: 2, metric: 100, link: 2, gateway: [192, 0, 2, 1])
        #expect(Self.only(NetlinkBytes.route(by: 2)) == .routes([route], .added))
        #expect(
            Self.only(NetlinkBytes.route(by: 2, flags: 0x500)) == .routes([route], .replaced))
        #expect(Self.only(NetlinkBytes.route(by: 2, kind: 25)) == .routes([route], .removed))
        // A network's, one that refuses packets, this machine's own addresses, another family.
        #expect(Self.only(NetlinkBytes.route(by: 2, to: 24)) == nil)
        #expect(Self.only(NetlinkBytes.route(by: 2, type: 7)) == nil)
        #expect(Self.only(NetlinkBytes.route(by: 2, table: 255)) == nil)
        #expect(Self.only(NetlinkBytes.route(by: 2, family: 28)) == nil)
        #expect(Self.only(NetlinkBytes.route(by: 0)) == nil)
    }

    @Test func aRouteMayHaveSeveralWays() {
        func way(_ link: UInt32, _ gateway: [UInt8]) -> [UInt8] {
            let attribute = NetlinkBytes.attribute(5, gateway)
            return NetlinkBytes.half(UInt16(8 + attribute.count)) + [0, 0]
                + NetlinkBytes.word(link) + attribute
        }
        let head: [UInt8] = [2, 0, 0, 0, 254, 3, 0, 1] + NetlinkBytes.word(0)
        let ways = way(2, [192, 0, 2, 1]) + way(3, [198, 51, 100, 1])
        #expect(
            Self.only(NetlinkBytes.message(24, head + NetlinkBytes.attribute(9, ways)))
                == .routes(
                    [
                        DefaultRoute(family: 2, link: 2, gateway: [192, 0, 2, 1]),
                        DefaultRoute(family: 2, link: 3, gateway: [198, 51, 100, 1]),
                    ], .added))
        for length: UInt16 in [0, 7, 17, 0xFFFF] {
            let wrong = NetlinkBytes.half(length) + way(2, [192, 0, 2, 1]).dropFirst(2)
            #expect(
                Self.only(NetlinkBytes.message(24, head + NetlinkBytes.attribute(9, wrong)))
                    == nil)
        }
    }

    @Test func severalMessagesShareADatagram() {
        let all = NetlinkMessage.messages(
            in: NetlinkBytes.link(2, "eth0") + NetlinkBytes.message(99, [1, 2, 3])
                + NetlinkBytes.done(5) + NetlinkBytes.done(6, flags: 0x12)
                + NetlinkBytes.message(2, NetlinkBytes.word(0xFFFF_FFF0), number: 7)
                + NetlinkBytes.message(4, []))
        #expect(
            all == [
                .link(NetworkLink(index: 2, name: "eth0", flags: 0x41)),
                .done(number: 5, isConsistent: true), .done(number: 6, isConsistent: false),
                .refused(number: 7, -16), .lost,
            ])
    }

    // MARK: Wrong lengths

    @Test(arguments: [0, 1, 15, 17, 36, 4096, UInt32.max])
    func aWrongLengthOfAMessageEndsTheDatagram(_ length: UInt32) {
        let good = NetlinkBytes.done(1)
        var wrong = NetlinkBytes.message(4, NetlinkBytes.word(0))
        wrong.replaceSubrange(0..<4, with: NetlinkBytes.word(length))
        let read = NetlinkMessage.messages(in: good + wrong)
        #expect(read.first == .done(number: 1, isConsistent: true))
        // 17 is within the bytes; what follows it isn't read as a message.
        #expect(read.count == (length == 17 ? 2 : 1))
    }

    @Test(arguments: [0, 1, 3, 200, UInt16.max])
    func aWrongLengthOfAnAttributeDropsTheMessage(_ length: UInt16) {
        var link = NetlinkBytes.link(2, "eth0")
        link.replaceSubrange(32..<34, with: NetlinkBytes.half(length))
        #expect(NetlinkMessage.messages(in: link + NetlinkBytes.done(1)).count == 1)
        var address = NetlinkBytes.address([192, 0, 2, 1], on: 2)
        address.replaceSubrange(24..<26, with: NetlinkBytes.half(length))
        #expect(NetlinkMessage.messages(in: address + NetlinkBytes.done(1)).count == 1)
        var route = NetlinkBytes.route(by: 2)
        route.replaceSubrange(28..<30, with: NetlinkBytes.half(length))
        #expect(NetlinkMessage.messages(in: route + NetlinkBytes.done(1)).count == 1)
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17])
    func anAddressOfAnotherLengthIsDropped(_ count: Int) {
        let bytes = [UInt8](repeating: 1, count: count)
        for family: UInt8 in [2, 10] {
            let body =
                [family, 24, 0, 0] + NetlinkBytes.word(2) + NetlinkBytes.attribute(1, bytes)
            #expect(NetlinkMessage.messages(in: NetlinkBytes.message(20, body)).isEmpty)
        }
    }

    /// Each message cut off everywhere, and with each byte changed, is read without a trap.
    @Test func brokenMessagesDoNoHarm() {
        var generator = SplitMix(seed: 39)
        let good =
            NetlinkBytes.link(2, "eth0", virtual: "veth", isWireless: true)
            + NetlinkBytes.address([192, 0, 2, 1], on: 2) + NetlinkBytes.route(by: 2)
            + NetlinkBytes.done(1)
        for count in 0..<good.count {
            #expect(NetlinkMessage.messages(in: Array(good[..<count])).count < 4)
        }
        for index in good.indices {
            var broken = good
            broken[index] = UInt8.random(in: 0...255, using: &generator)
            #expect(NetlinkMessage.messages(in: broken).count <= 5)
        }
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...200, using: &generator)
            var tracker = NetworkTracker()
            _ = tracker.ask()
            _ = tracker.receive(
                (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
            #expect(tracker.state == nil)
        }
    }
}
