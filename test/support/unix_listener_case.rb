# frozen_string_literal: true

require "bontebok/config/option_table"
require "bontebok/sockets/unix_listener"

module Support
  # The base of tests of listeners on unix sockets, by default on @path. The listeners are closed when the test ends.
  class UnixListenerCase < TestCase
    def setup
      @path = File.join(temp_dir, "a.sock")
      @opened = []
    end

    def teardown
      @opened.each do |listener|
        listener.unlink
        listener.close
      end
    end

    private

    # access: arguments for the listener's SocketAccess.
    def listener(path = @path, kind: Bontebok::UnixListener, **access)
      address = Bontebok::Address.parse("unix:#{path}")
      access = Bontebok::SocketAccess.new(mode: 0o777, **access)
      @opened.push(kind.new(address, backlog: 8, access: access)).last
    end

    def listening(path = @path, **access)
      listener(path, **access).tap(&:bind).tap(&:listen)
    end
  end
end
