# frozen_string_literal: true

# A Log that keeps its lines: "level message".
class LogLines
  attr_reader :lines

  def initialize
    @lines = []
  end

  def write(level, message, exception = nil)
    @lines << [level, message, *exception&.message].join(" ")
  end

  %i[info warn error].each do |level|
    define_method(level) { |message, exception = nil| write(level, message, exception) }
  end

  def copy(text) = @lines << text
end
