# frozen_string_literal: true

require "bontebok/config/option_table"
require "bontebok/sockets/unix_listener"

module Support
  # A test of listeners on unix sockets, @path unless it says otherwise. They are closed when it ends.
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

    # access: arguments of its SocketAccess.
    def listener(path = @path, **access)
      address = Bontebok::Address.parse("unix:#{path}")
      access = Bontebok::SocketAccess.new(mode: 0o777, **access)
      @opened.push(Bontebok::UnixListener.new(address, backlog: 8, access: access)).last
    end

    def listening(path = @path, **access)
      listener(path, **access).tap(&:bind).tap(&:listen)
    end
  end
end
