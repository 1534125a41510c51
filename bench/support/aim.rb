# frozen_string_literal: true

module Bench
  module_function

  # Prints an aim, and whether it is met. An aim that is not met does not change the exit status.
  def aim(text, met)
    puts "aim: #{text}: #{met ? "met" : "NOT MET"}"
  end
end
