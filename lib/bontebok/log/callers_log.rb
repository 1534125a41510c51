# frozen_string_literal: true

require_relative "log"

module Bontebok
  # The log of a Server in another program. Has the methods of Log, and passes each entry to an object of that program.
  class CallersLog
    # The severities of Ruby's Logger.
    SEVERITIES = { info: 1, warn: 2, error: 3 }.freeze
    NAME = "bontebok"

    # receiver: an IO; a Logger; an object with `call`, which gets level, message and exception; an object with `write`,
    # which gets lines; or nil. An IO gets the entries of Log in this format. Raises ArgumentError for another object.
    def self.for(receiver, format:, level:)
      receiver.is_a?(IO) ? Log.new(receiver, format: format, level: level) : new(receiver, level: level)
    end

    def initialize(receiver, level:)
      @levels = receiver.nil? ? [] : Log::LEVELS.drop_while { |one| one != level.to_sym }
      @pass = passing(receiver)
    end

    Log::LEVELS.each do |level|
      define_method(level) { |message, exception = nil| write(level, message, exception) }
    end

    # If the receiver raises an exception, the entry is lost.
    def write(level, message, exception = nil)
      @pass.call(level, LogText.clean(message), exception) if @levels.include?(level)
    rescue StandardError
      nil
    end

    private

    # Returns the Proc that gets level, message and exception of each entry.
    def passing(receiver)
      if receiver.nil? || receiver.respond_to?(:add)
        ->(level, *entry) { receiver.add(SEVERITIES.fetch(level), text(*entry), NAME) }
      elsif receiver.respond_to?(:call)
        ->(*entry) { receiver.call(*entry) }
      elsif receiver.respond_to?(:write)
        ->(level, *entry) { receiver.write("#{NAME}: #{level}: #{text(*entry)}\n") }
      else
        raise ArgumentError, "log: wants an IO, a Logger, an object with `call`, or nil, not #{receiver.class}"
      end
    end

    def text(message, exception)
      TextFormat.text(message, exception && LogFault.read(exception))
    end
  end
end
