# frozen_string_literal: true

require "json"

require_relative "../../system/encodings/output"
require_relative "observation"
require_relative "observed_server"

module Bontebok
  # `bontebok status`: shows what the server and its workers do. ControlCommand reads the arguments.
  class StatusCommand
    # Seconds between two looks of --follow, and between two attempts to reach a server that is replaced.
    INTERVAL = 1
    AGAIN = 0.1
    # The fewest seconds between two looks that are compared. The kernel counts CPU time in steps of 10 ms, and after a
    # change of the terminal's size a look comes at once.
    LEAST = 0.5
    # How many looks are kept. Two are enough: the last one may be too new.
    LOOKS = 2
    # Seconds that a server gets for its replacement.
    REPLACEMENT = 2
    # mackerel-agent asks for the definitions of the graphs.
    META = "MACKEREL_AGENT_PLUGIN_META"
    private_constant(*constants)

    # format: one of ControlCommand::FORMATS. The block gets a Deadline and returns a ControlConnection.
    def initialize(format, follow: false, &connect)
      require_relative "../../status/#{format}"
      @format = format
      @follow = follow
      @connect = connect
    end

    # Returns the exit status: 1 if the server does not answer. Raises StartError.
    def run
      return print(graphs) && 0 if @format == "mackerel" && ENV[META] == "1"

      @server = ObservedServer.new(&@connect)
      print(Status::Csv.header) if @format == "csv"
      @follow ? follow : once
    rescue Errno::EPIPE # nobody reads the output any more
      0
    ensure
      @server&.close
    end

    private

    def once
      print(form(observation.snapshot, nil))
      @server.answered? ? 0 : 1
    end

    # Ends at a signal.
    def follow
      require_relative "screen"
      require_relative "intervals"
      screen = Screen.new($stdout) if @format == "text" && $stdout.tty?
      @looks = []
      Intervals.each(INTERVAL, -> { screen&.forget }) { look(screen) }
      0
    end

    def look(screen)
      ask_again if @server.stale?
      found = observation
      if @server.answered? && @fingerprint && @fingerprint != found.fingerprint
        ask_again
        found = observation
      end
      @fingerprint = found.fingerprint
      snapshot = found.snapshot
      show(snapshot, before(snapshot, found.source), screen)
    end

    # Keeps the snapshot. Returns the earlier one, or nil. source: see ObservedMemory#source. The totals of two servers
    # are not compared, nor are those that could not be read.
    def before(snapshot, source)
      @looks = [] if source.empty? || source != @source
      @source = source
      earlier = @looks.reverse.find { |look| snapshot.at - look.at >= LEAST }
      @looks = [*@looks, snapshot].last(LOOKS) if !source.empty? && (@looks.empty? || earlier == @looks.last)
      earlier
    end

    def observation
      Observation.new(@server, @format == "text" ? ObservedWorkers::PERSON : ObservedWorkers::PROGRAM)
    end

    def show(snapshot, earlier, screen)
      return screen.draw(Status::Text.screen(snapshot, earlier)) if screen

      print(@format == "text" ? Status::Text.line(snapshot, earlier) : form(snapshot, earlier))
    end

    # While a server is replaced, nobody may listen for a moment.
    def ask_again
      deadline = Deadline.new(REPLACEMENT)
      begin
        @server.ask
      rescue StartError
        raise if deadline.left.zero?

        sleep(AGAIN)
        retry
      end
    end

    def form(snapshot, earlier)
      case @format
      when "text" then Status::Text.screen(snapshot, earlier)
      when "json" then JSON.generate(Status::Json.of(snapshot, earlier))
      when "csv" then Status::Csv.line(snapshot, earlier)
      when "puma" then JSON.generate(Status::Puma.of(snapshot))
      else Status::Mackerel.lines(snapshot, earlier).chomp
      end
    end

    def graphs
      "#{Status::Mackerel::HEADER}\n#{JSON.generate(Status::Mackerel.definitions)}"
    end

    def print(text)
      Output.write($stdout, "#{text}\n")
      $stdout.flush
    end
  end
end
