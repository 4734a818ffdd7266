import Foundation
import TestSupport
import Testing

@testable import SignetSystem

/// The state of the network, as it follows from the kernel's messages.
@Suite struct NetworkTrackerTests {
    struct Recorded: Decodable, Sendable, CustomTestStringConvertible {
        var command: String
        var datagrams: [String]
        var kind: String
        var link: String?

        var testDescription: String { command }

        var bytes: [[UInt8]] { datagrams.map { [UInt8](hex: $0) } }
    }

    /// A tracker that has the answers to its questions.
    private static func tracker(
        _ links: [UInt8], _ addresses: [UInt8], _ routes: [UInt8],
        deviceType: @escaping (String) -> String? = { _ in nil }
    ) -> NetworkTracker {
        var tracker = NetworkTracker(deviceType: deviceType)
        #expect(tracker.ask()?.kind == .links)
        #expect(tracker.receive(links + NetlinkBytes.done(1))?.kind == .addresses)
        #expect(tracker.receive(addresses + NetlinkBytes.done(2))?.kind == .routes)
        #expect(tracker.state == nil)
        #expect(tracker.receive(routes + NetlinkBytes.done(3)) == nil)
        return tracker
    }

    private static func state(
        of name: String, hardware: UInt16 = 1, flags: UInt32 = 0x41, virtual: String? = nil,
        isWireless: Bool = false, deviceType: String? = nil
    ) -> NetworkState? {
        tracker(
            NetlinkBytes.link(
                2, name, hardware: hardware, flags: flags, virtual: virtual,
                isWireless: isWireless),
            NetlinkBytes.address([192, 0, 2, 7], on: 2), NetlinkBytes.route(by: 2)
        ) { _ in deviceType }.state
    }

    /// The recorded messages, one command after another.
    @Test func recordedMessagesGiveTheState() throws {
        var tracker = NetworkTracker()
        _ = tracker.ask()
        for recorded in try VectorFile<Recorded>.load("netlink", in: .module) {
            for datagram in recorded.bytes { _ = tracker.receive(datagram) }
            let state = tracker.state
            #expect(state?.kind.rawValue == recorded.kind, "\(recorded.command)")
            #expect(state?.link == recorded.link, "\(recorded.command)")
        }
    }

    /// By the name that udev gives, by the driver's event, by the device's type, by hardware.
    @Test(.features("000-58"))
    func linksHaveKinds() {
        #expect(Self.state(of: "eth0")?.kind == .wired)
        #expect(Self.state(of: "veth7", virtual: "veth")?.kind == .wired)
        #expect(Self.state(of: "ib0", hardware: 32)?.kind == .wired)
        #expect(Self.state(of: "wlp3s0")?.kind == .wireless)
        #expect(Self.state(of: "radio", isWireless: true)?.kind == .wireless)
        #expect(Self.state(of: "radio", deviceType: "wlan")?.kind == .wireless)
        #expect(Self.state(of: "radio", hardware: 803)?.kind == .wireless)
        #expect(Self.state(of: "wwp0s20u6")?.kind == .mobile)
        #expect(Self.state(of: "rmnet_data0", hardware: 519)?.kind == .mobile)
        #expect(Self.state(of: "usb0", deviceType: "wwan")?.kind == .mobile)
        #expect(Self.state(of: "modem", virtual: "wwan")?.kind == .mobile)
        #expect(Self.state(of: "tun0", hardware: 65534, virtual: "tun")?.kind == .tunnel)
        #expect(Self.state(of: "wg0", hardware: 65534, virtual: "wireguard")?.kind == .tunnel)
        #expect(Self.state(of: "ppp0", hardware: 512)?.kind == .tunnel)
        // A program may name a virtual link as it likes.
        #expect(Self.state(of: "wlan0", virtual: "veth")?.kind == .wired)
    }

    @Test func withoutAWayTheMachineIsOffline() {
        #expect(Self.state(of: "eth0", flags: 0x1)?.kind == NetworkState.Kind.none)
        #expect(Self.state(of: "eth0", flags: 0x40)?.isOnline == false)
        #expect(Self.state(of: "lo", hardware: 772, flags: 0x49)?.isOnline == false)
        let link = NetlinkBytes.link(2, "eth0")
        let address = NetlinkBytes.address([192, 0, 2, 7], on: 2)
        #expect(Self.tracker(link, address, []).state?.isOnline == false)
        #expect(Self.tracker(link, [], NetlinkBytes.route(by: 2)).state?.isOnline == false)
        #expect(Self.tracker(link, address, NetlinkBytes.route(by: 3)).state?.isOnline == false)
        // The address of the link alone, and one of another family.
        let local = NetlinkBytes.address([169, 254, 0, 1], on: 2, scope: 253)
        #expect(Self.tracker(link, local, NetlinkBytes.route(by: 2)).state?.isOnline == false)
        #expect(
            Self.tracker(
                link, address,
                NetlinkBytes.route(by: 2, gateway: [UInt8](repeating: 1, count: 16), family: 10)
            ).state?.isOnline == false)
    }

    @Test func theLowestMetricDecides() {
        let links = NetlinkBytes.link(2, "eth0") + NetlinkBytes.link(3, "wlan0")
        let addresses =
            NetlinkBytes.address([192, 0, 2, 7], on: 2)
            + NetlinkBytes.address([198, 51, 100, 7], on: 3)
        var tracker = Self.tracker(
            links, addresses,
            NetlinkBytes.route(by: 2, metric: 100) + NetlinkBytes.route(by: 3, metric: 600))
        #expect(tracker.state?.kind == .wired)
        // Another table is for some packets alone.
        _ = tracker.receive(NetlinkBytes.route(by: 3, metric: 1, table: 100))
        #expect(tracker.state?.kind == .wired)
        // The cable is pulled out, and put in again.
        _ = tracker.receive(NetlinkBytes.link(2, "eth0", flags: 0x1))
        #expect(tracker.state?.kind == .wireless && tracker.state?.link == "wlan0")
        _ = tracker.receive(NetlinkBytes.link(2, "eth0"))
        #expect(tracker.state?.kind == .wired)
        _ = tracker.receive(NetlinkBytes.link(2, "eth0", kind: 17))
        #expect(tracker.state?.kind == .wireless)
    }

    @Test func anotherNetworkIsAnotherState() throws {
        var tracker = Self.tracker(
            NetlinkBytes.link(2, "wlan0"), NetlinkBytes.address([192, 0, 2, 7], on: 2),
            NetlinkBytes.route(by: 2))
        let first = try #require(tracker.state)
        _ = tracker.receive(NetlinkBytes.address([192, 0, 2, 7], on: 2))
        #expect(tracker.state == first)
        _ = tracker.receive(
            NetlinkBytes.route(by: 2, gateway: [192, 0, 2, 254], flags: 0x100))
        let second = try #require(tracker.state)
        #expect(second != first && second.kind == first.kind && second.link == first.link)
        _ = tracker.receive(NetlinkBytes.address([192, 0, 2, 8], on: 2))
        #expect(tracker.state != second)
        // IPv6 hosts change their addresses.
        let third = tracker.state
        _ = tracker.receive(
            NetlinkBytes.address([0x20] + [UInt8](repeating: 1, count: 15), on: 2))
        #expect(tracker.state == third)
    }

    @Test func lostMessagesAreAskedForAgain() {
        var tracker = Self.tracker(
            NetlinkBytes.link(2, "eth0"), NetlinkBytes.address([192, 0, 2, 7], on: 2),
            NetlinkBytes.route(by: 2))
        let state = tracker.state
        #expect(tracker.receive(NetlinkBytes.message(4, []))?.kind == .links)
        // While questions are out there are no others, and the state is the last one.
        #expect(tracker.ask() == nil && tracker.state == state)
        #expect(tracker.receive(NetlinkBytes.done(3)) == nil)
        #expect(tracker.receive(NetlinkBytes.done(4))?.number == 5)
        #expect(tracker.receive(NetlinkBytes.done(5))?.kind == .routes)
        // Then it asks again, because more was lost meanwhile.
        #expect(tracker.receive(NetlinkBytes.done(6))?.kind == .links)
        #expect(tracker.state?.isOnline == false)
    }

    @Test func entriesThatChangedMeanwhileAreAskedForAgain() {
        var tracker = NetworkTracker()
        _ = tracker.ask()
        _ = tracker.receive(NetlinkBytes.done(1, flags: 0x12))
        _ = tracker.receive(NetlinkBytes.done(2))
        #expect(tracker.receive(NetlinkBytes.done(3))?.kind == .links)
    }

    /// A sandbox that hides the routes doesn't make the machine offline.
    @Test func aRefusedQuestionMakesItUnknown() {
        var tracker = NetworkTracker()
        _ = tracker.ask()
        for number: UInt32 in 1...3 {
            _ = tracker.receive(
                NetlinkBytes.message(2, NetlinkBytes.word(0xFFFF_FFFF), number: number))
        }
        #expect(tracker.state?.kind == .unknown && tracker.state?.isOnline == true)
    }

    /// The kernel says nothing of the routes that a link loses when it is switched off, and of
    /// those that come again with it.
    @Test func aLinkThatIsSwitchedOnAsksForRoutes() {
        var tracker = Self.tracker(
            NetlinkBytes.link(2, "eth0"), NetlinkBytes.address([192, 0, 2, 7], on: 2),
            NetlinkBytes.route(by: 2))
        #expect(tracker.receive(NetlinkBytes.link(2, "eth0", flags: 0x2)) == nil)
        #expect(tracker.state?.isOnline == false)
        #expect(tracker.receive(NetlinkBytes.link(2, "eth0"))?.kind == .links)
        #expect(tracker.state?.isOnline == false)
    }
}

extension [UInt8] {
    fileprivate init(hex: String) {
        let digits = hex.utf8.map { $0 > 0x39 ? $0 - 0x57 : $0 - 0x30 }
        self = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
