import SignetTesting

/// A clock that a test moves; the name ``TestClock`` is taken by that of the cache's tests.
typealias PauseClock = SignetTesting.TestClock
