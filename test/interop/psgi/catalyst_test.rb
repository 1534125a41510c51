# frozen_string_literal: true

require "test_helper"
require_relative "support/framework_cases"

class CatalystTest < Interop::FrameworkCases
  def application = "catalyst"

  def test_the_writer_of_psgi_sends_parts
    at_each_entrance do |browser|
      response = browser.get("/writer")
      assert_equal [201, "part 0\npart 1\npart 2\n"], [response.status, response.body]
    end
  end

  def test_a_response_of_psgi_is_sent
    at_each_entrance do |browser|
      response = browser.get("/psgi")
      assert_equal [202, "yes", "by PSGI"], [response.status, response["X-Own"], response.body]
    end
  end

  def test_a_file_in_memory_is_sent
    at_each_entrance do |browser|
      response = browser.get("/lines")
      assert_equal [200, "first\nsecond\n"], [response.status, response.body]
    end
  end
end
