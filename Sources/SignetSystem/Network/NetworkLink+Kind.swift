import SignetBase

extension NetworkLink {
    /// The kinds of virtual links that pack packets into others.
    private static let tunnelKinds: Set<String> = [
        "tun", "wireguard", "ipip", "ip6tnl", "sit", "gre", "gretap", "ip6gre", "ip6gretap", "vti",
        "vti6", "xfrm", "erspan", "ovpn", "amt", "bareudp", "gtp",
    ]

    /// The kind of the network that the link leads to, by its driver, its device, its hardware type
    /// and at last its name (`wl…` and `ww…`, as udev and the drivers name links).
    var networkKind: NetworkState.Kind {
        if isWireless || deviceType == "wlan" || (801...805).contains(hardware) {
            return .wireless
        }
        if deviceType == "wwan" || kind == "wwan" || kind == "rmnet" || hardware == Self.rawIP {
            return .mobile
        }
        if let kind, Self.tunnelKinds.contains(kind) { return .tunnel }
        if Self.tunnels.contains(hardware) { return .tunnel }
        if kind == nil, name.startsWithBytes(of: "wl") { return .wireless }
        if kind == nil, name.startsWithBytes(of: "ww") || name.startsWithBytes(of: "rmnet") {
            return .mobile
        }
        return .wired
    }

    /// ARPHRD_RAWIP, which modems have.
    private static let rawIP: UInt16 = 519
    /// ARPHRD_PPP, TUNNEL, TUNNEL6, SIT, IPGRE, IP6GRE and NONE, which tun and WireGuard have. A
    /// link of PPP is PPPoE, L2TP or the like; one of a modem has the device type `wwan`.
    private static let tunnels: Set<UInt16> = [512, 768, 769, 776, 778, 823, 65534]
}
