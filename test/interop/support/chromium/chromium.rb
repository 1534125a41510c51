# frozen_string_literal: true

require "io/nonblock"
require "json"
require_relative "chromium_tab"

module Interop
  # Chromium without a window. The DevTools protocol controls it, over a pair of pipes: each message is JSON with a NUL
  # behind it. The class Browser is for tests of HTTP that need no JavaScript.
  class Chromium
    # --no-sandbox: the tests may run as root. Pages in the background must not be slower than the page in front.
    FLAGS = %w[--headless=new --remote-debugging-pipe --no-sandbox --no-first-run --no-default-browser-check
               --disable-gpu --disable-dev-shm-usage --disable-extensions --disable-component-update
               --disable-background-networking --disable-sync --disable-breakpad --disable-crash-reporter
               --disable-background-timer-throttling --disable-backgrounding-occluded-windows
               --disable-renderer-backgrounding --disable-features=IntensiveWakeUpThrottling
               --renderer-process-limit=2 --password-store=basic --use-mock-keychain].freeze
    # The file descriptors that Chromium reads commands from and writes messages to.
    COMMANDS = 3
    MESSAGES = 4
    # Seconds for a command.
    LIMIT = 60

    attr_reader :process

    # directory: where the profile is. The block gets the command and its options, and starts the process.
    def initialize(directory)
      commands, @commands = IO.pipe
      @messages, messages = IO.pipe
      [commands, messages].each { |pipe| pipe.nonblock = false }
      @process = yield(["chromium", *FLAGS, "--user-data-dir=#{directory}/chromium", "about:blank"],
                       { COMMANDS => commands, MESSAGES => messages, env: { "HOME" => directory } })
      [commands, messages].each(&:close)
      @number = 0
      @buffer = String.new(encoding: Encoding::BINARY)
    end

    # Opens a tab, and waits until JavaScript's window.page.ready is true. Returns a ChromiumTab. The page is visible,
    # as if the user looked at it.
    def open(url)
      target = command("Target.createTarget", url: url)["targetId"]
      session = command("Target.attachToTarget", targetId: target, flatten: true)["sessionId"]
      command("Emulation.setFocusEmulationEnabled", session: session, enabled: true)
      ChromiumTab.new(self, target, session).tap(&:wait_until_ready)
    end

    # Sends a command of the DevTools protocol. Returns its result. session: of a tab.
    def command(method, session: nil, **parameters)
      number = @number += 1
      message = { id: number, method: method, params: parameters, sessionId: session }.compact
      @commands.write("#{JSON.generate(message)}\0")
      deadline = Support::Deadline.for(LIMIT)
      loop do
        answer = read(deadline)
        next unless answer["id"] == number # an event, which no test needs

        raise Support::Error, "#{method}: #{answer["error"]}" if answer["error"]

        return answer.fetch("result")
      end
    end

    # Ends the browser with all its tabs.
    def close
      @commands.write("#{JSON.generate({ id: 0, method: 'Browser.close' })}\0")
      @process.wait(LIMIT)
      @process.wait_for_group(LIMIT)
    ensure
      [@commands, @messages].each(&:close)
    end

    private

    def read(deadline)
      until (size = @buffer.index("\0"))
        @messages.wait_readable(deadline.left) || raise(Support::Timeout, "no answer:\n#{@process.output.text}")
        @buffer << @messages.readpartial(65_536)
      end
      JSON.parse(@buffer.slice!(0..size).chomp("\0"))
    rescue EOFError
      raise Support::Error, "Chromium has ended:\n#{@process.output.text}"
    end
  end
end
