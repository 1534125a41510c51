# frozen_string_literal: true

require_relative "log_text"

module Bontebok
  # The texts with which the log describes an exception. .read never raises, even if a method of the exception does.
  class LogFault
    BACKTRACE_LINES = 20
    CAUSES = 5
    # Frames of the server, and frames of Rack around the rackup file, are left out of an application's backtrace.
    OWN_DIRECTORY = "#{File.expand_path("..", __dir__)}/".freeze
    # Calls of spawn, exec and others pass through files of this directory, whose frames are left out as well.
    REPLACED = "#{OWN_DIRECTORY}system/replaced/".freeze
    RACK_BUILDER = "/lib/rack/builder.rb:"
    # The server's code raises this exception if the application returns an invalid response. It is logged like an
    # exception of the application.
    INVALID_REPLY = "Bontebok::Core::InvalidReply"

    # class_name is nil for an exception that cannot be described. backtrace and causes are arrays of lines.
    attr_reader :class_name, :message, :backtrace, :causes

    class << self
      def read(exception)
        backtrace = shown(frames_of(exception))
        new(name_of(exception), message_of(exception), backtrace, causes_of(exception))
      rescue Exception => e # rubocop:disable Lint/RescueException
        new(nil, "an exception that cannot be described (#{e.class})")
      end

      private

      def name_of(exception) = LogText.clean(exception.class)

      def message_of(exception)
        LogText.clean(exception.message).rstrip
      rescue Exception => e # rubocop:disable Lint/RescueException
        "its message raised #{e.class}"
      end

      def shown(frames)
        lines = frames.first(BACKTRACE_LINES).map { |frame| LogText.clean(frame) }
        lines << "... #{frames.size - lines.size} more" if frames.size > lines.size
        lines
      end

      # One line for each cause, with the place at which it was raised.
      def causes_of(exception)
        causes = []
        causes << exception while causes.size < CAUSES && (exception = exception.cause)
        causes.map do |cause|
          place = frames_of(cause).first(1).map { |frame| ", #{LogText.clean(frame)}" }
          "#{message_of(cause).lines(chomp: true).first} (#{name_of(cause)})#{place.first}"
        end
      end

      # Returns all frames if the server's own code has raised the exception.
      def frames_of(exception)
        backtrace = exception.backtrace.to_a.drop_while { |frame| frame.start_with?(REPLACED) }
        return backtrace if backtrace.first&.start_with?(OWN_DIRECTORY) && exception.class.name != INVALID_REPLY

        frames = backtrace.take_while { |frame| !frame.start_with?(OWN_DIRECTORY) }
        frames.pop while frames.last&.include?(RACK_BUILDER)
        frames
      end
    end

    def initialize(class_name, message, backtrace = [], causes = [])
      @class_name = class_name
      @message = message
      @backtrace = backtrace
      @causes = causes
    end
  end
end
