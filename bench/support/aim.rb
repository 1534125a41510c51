# frozen_string_literal: true

module Bench
  module_function

  # Prints a figure and its aim on one line. A benchmark does not fail: its reader judges.
  def aim(text, met)
    puts "aim: #{text}: #{met ? "met" : "NOT MET"}"
  end
end
