# frozen_string_literal: true

require_relative "chunked_test"
require_relative "connection_test"
require_relative "expect_test"
require_relative "fields_test"
require_relative "framing_test"
require_relative "host_test"
require_relative "limits_test"
require_relative "pipeline_test"
require_relative "request_line_test"
require_relative "responses_test"
require_relative "smuggling_test"
require_relative "timeouts_test"
require_relative "upgrade_test"
require_relative "support/psgi"

# The same cases with the Perl handler, and a PSGI application that does the same. psgi_differs marks the cases in which
# PSGI and Rack's SPEC differ. Two files are left out: linted_test.rb is about Rack::Lint, and the handler has no option
# for bodies that the application reads early (unbuffered_test.rb).
[ChunkedTest, ConnectionTest, ExpectTest, FieldsTest, UnderscoreFieldsTest, FramingTest, HostTest, LimitsTest,
 DefaultLimitsTest, RequestLineTest, SmugglingTest].each do |table|
  Object.const_set("Psgi#{table.name}", Class.new(table) { include Conform::Psgi })
end

class PsgiPipelineTest < PipelineTest
  include Conform::Psgi

  def applications = super.merge(DIGEST => "digest")
end

class PsgiResponsesTest < ResponsesTest
  include Conform::Psgi

  def applications = { APPLICATION => "responses", GATE => "gate" }

  def fault_line(fault) = /Bontebok: the field #{fault}/
end

class PsgiTimeoutsTest < TimeoutsTest
  include Conform::Psgi

  def applications = { APPLICATION => "input" }
end

# PSGI has no list of the offered protocols, and no response that accepts an upgrade.
class PsgiUpgradeTest < UpgradeTest
  include Conform::Psgi

  undef_method :test_the_offers_of_a_request
  undef_method :test_an_accepted_upgrade

  def applications = { APP => "upgrade" }
end
