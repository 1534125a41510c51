# frozen_string_literal: true

require "io/wait"

module Bontebok
  # The server's own log: a line has the time in UTC, the level, the process and the message. Every process writes to
  # the same stream, each entry in one write, so that lines do not mix. Never used in a signal handler.
  class Log
    LEVELS = %i[info warn error].freeze
    # A reader that has stopped reading costs a line, never a request: we wait for it so many seconds.
    PATIENCE = 0.2
    BACKTRACE_LINES = 20
    # Frames of the server itself, and of Rack on the way to the rackup file, say nothing about an application's fault.
    OWN_FOLDER = "#{File.expand_path(__dir__)}/".freeze
    RACK_BUILDER = "/lib/rack/builder.rb:"

    def initialize(stream = $stderr)
      @stream = stream
    end

    LEVELS.each do |level|
      define_method(level) { |message, exception = nil| write(level, message, exception) }
    end

    def write(level, message, exception = nil)
      text = readable(message)
      text += ": #{describe(exception)}" if exception
      head = "#{Time.now.utc.strftime('%Y-%m-%dT%H:%M:%S.%LZ')} #{level} #{Process.pid} "
      put("#{head}#{text.gsub("\n", "\n  ")}\n")
    end

    private

    def describe(exception)
      frames = frames_of(exception.backtrace.to_a)
      lines = frames.first(BACKTRACE_LINES).map { |frame| readable(frame) }
      lines << "... #{frames.size - lines.size} more" if frames.size > lines.size
      ["#{message_of(exception)} (#{exception.class})", *lines].join("\n")
    end

    # An application's exception may have a message that raises.
    def message_of(exception)
      readable(exception.message)
    rescue StandardError, ScriptError, SystemStackError => e
      "its message raised #{e.class}"
    end

    # A line is UTF-8, whatever meets in it: bytes of a request, messages in other encodings.
    def readable(text)
      text = text.to_s
      text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
      text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
    end

    # All of them when the fault is our own.
    def frames_of(backtrace)
      frames = backtrace.take_while { |frame| !frame.start_with?(OWN_FOLDER) }
      frames.pop while frames.last&.include?(RACK_BUILDER)
      frames.empty? ? backtrace : frames
    end

    # A pipe that is writable takes PIPE_BUF bytes without blocking (pipe(7)). A stream that is gone is no reason to
    # stop serving.
    def put(text)
      @stream.syswrite(text) if @stream.wait_writable(PATIENCE)
    rescue SystemCallError, IOError
      nil
    end
  end
end
